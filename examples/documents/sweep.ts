/**
 * A sweep over the example's documents, with the four services in the same process: `reprise sweep --config ./sweep.ts --once`.
 * In earnest the source is MongoDB and the bus RabbitMQ, and the services are elsewhere; nothing else changes.
 */
import { type MemoryBus, memoryBus } from 'reprise/bus/memory'
import { sqliteSource } from 'reprise/sources/sqlite'
import { defineSweep, shippedCollections } from 'reprise/sweep'
import { type Pipeline, startPipeline } from './pipeline.ts'

const pipeline: Pipeline = {
  source: sqliteSource({ file: process.env['DOCUMENTS_DB'] ?? './documents.db' }),
  bus: memoryBus(),
  summarise: async (archive) => `What ${archive} says, in one sentence.`,
  vectors: new Map(),
  summaries: new Map(),
}
const stop = await startPipeline(pipeline)
const bus: MemoryBus = {
  ...pipeline.bus,
  async close() {
    await stop()
    await pipeline.bus.close()
  },
}

export default defineSweep({ source: pipeline.source, bus, collections: shippedCollections })
