import { describe, expect, test, vi } from 'vitest'
import { SAMPLES } from '../run/event-samples.fixtures.ts'
import { createEmitter } from './emitter.ts'

describe('emitter', () => {
  test('hands an event to those that asked for it and to those that hear everything', () => {
    const emitter = createEmitter()
    const heard: string[] = []
    emitter.on('run.failed', (event) => heard.push(`failed after ${event.attempts}`))
    emitter.on('*', (event) => heard.push(event.name))
    emitter.emit(SAMPLES['run.failed'])
    emitter.emit(SAMPLES['run.cancelled'])
    expect(heard).toEqual(['failed after 8', 'run.failed', 'run.cancelled'])
  })

  test('a listener that is taken back hears nothing more, and twice is harmless', () => {
    const emitter = createEmitter()
    const listener = vi.fn()
    const off = emitter.on('*', listener)
    const offTwin = emitter.on('*', listener)
    expect(emitter.listening).toBe(true)
    off()
    off()
    emitter.emit(SAMPLES['run.cancelled'])
    expect(listener).toHaveBeenCalledTimes(1)
    offTwin()
    expect(emitter.listening).toBe(false)
    emitter.emit(SAMPLES['run.cancelled'])
    expect(listener).toHaveBeenCalledTimes(1)
  })

  test('listeners may come and go while an event is handed round', () => {
    const emitter = createEmitter()
    const heard: string[] = []
    const off = emitter.on('*', () => {
      heard.push('first')
      off()
      emitter.on('*', () => heard.push('late'))
    })
    emitter.on('*', () => heard.push('second'))
    emitter.emit(SAMPLES['run.cancelled'])
    expect(heard).toEqual(['first', 'second'])
    emitter.emit(SAMPLES['run.cancelled'])
    expect(heard).toEqual(['first', 'second', 'second', 'late'])
  })

  test('a listener that throws harms nobody and is reported once', () => {
    const reports: string[] = []
    const emitter = createEmitter({ report: (message) => reports.push(message) })
    const heard = vi.fn()
    emitter.on('*', () => {
      throw new Error('disk full')
    })
    emitter.on('*', heard)
    emitter.emit(SAMPLES['run.cancelled'])
    emitter.emit(SAMPLES['run.failed'])
    expect(heard).toHaveBeenCalledTimes(2)
    expect(reports).toEqual(['A listener failed on run.cancelled: disk full. Its further failures are not reported.'])
  })

  test('a listener that rejects is reported once and leaves no unhandled rejection', async () => {
    const reports: string[] = []
    const emitter = createEmitter({ report: (message) => reports.push(message) })
    emitter.on('run.failed', async () => {
      throw new Error('connection to postgres://app:canary-9f31c2@db/x refused')
    })
    emitter.emit(SAMPLES['run.failed'])
    emitter.emit(SAMPLES['run.failed'])
    await Promise.resolve()
    await Promise.resolve()
    expect(reports).toEqual([
      'A listener failed on run.failed: connection to postgres://***@db/x refused. Its further failures are not reported.',
    ])
  })

  test('a failing listener is a process warning by default', () => {
    const warning = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const emitter = createEmitter()
    emitter.on('*', () => {
      throw 'text'
    })
    emitter.emit(SAMPLES['run.cancelled'])
    expect(warning).toHaveBeenCalledWith(expect.stringContaining('run.cancelled: text'), {
      type: 'RepriseWarning',
      code: 'REPRISE_LISTENER',
    })
  })

  test('known secrets do not leave', () => {
    const emitter = createEmitter()
    emitter.know('canary-9f31c2')
    let heard = ''
    emitter.on('*', (event) => {
      heard = JSON.stringify(event)
    })
    emitter.emit({ ...SAMPLES.progress, note: 'with canary-9f31c2 in it' })
    expect(heard).toContain('with *** in it')
  })
})
