/**
 * Scenes told by the teller, each a whole way of one run, and good histories made of them.
 */
import { seededDice } from '../../time/dice.ts'
import type { History } from './history.ts'
import { Teller } from './teller.fixtures.ts'

/** One of each kind of scene, in this order; the ids are r1, r2, … */
export function everyScene(): History {
  const teller = new Teller(1)
  for (const [index, scene] of Object.values(SCENES).entries()) scene(teller, index + 1)
  return teller.history(1)
}

/** Any number of any scenes. */
export function goodHistory(seed: number): History {
  const dice = seededDice(seed)
  const teller = new Teller(seed)
  const scenes = Object.values(SCENES)
  const count = 1 + Math.floor(dice() * 8)
  for (let item = 1; item <= count; item += 1) {
    scenes[Math.floor(dice() * scenes.length)]?.(teller, item)
    teller.pass(Math.floor(dice() * 500))
  }
  return teller.history(seed)
}

type Scene = (teller: Teller, item: number) => void

const SCENES: Readonly<Record<string, Scene>> = {
  called(teller, item) {
    const run = teller.submit(item, `k${item}`)
    teller.submit(item, `k${item}`)
    teller.claim(run)
    teller.call(run, 'ask')
    teller.end(run, 'value')
  },
  retried(teller, item) {
    const run = teller.submit(item)
    teller.claim(run)
    teller.call(run, 'ask', 2)
    teller.end(run, 'unavailable')
    teller.claim(run)
    teller.call(run, 'ask')
    teller.end(run, 'value')
  },
  limited(teller, item) {
    const run = teller.submit(item)
    teller.claim(run)
    teller.end(run, 'limited')
    teller.claim(run)
    teller.end(run, 'value')
  },
  crashed(teller, item) {
    const run = teller.submit(item)
    teller.claim(run)
    teller.claim(run)
    teller.end(run, 'value')
  },
  reviewed(teller, item) {
    const run = teller.submit(item)
    teller.claim(run)
    teller.end(run, 'person')
  },
  again(teller, item) {
    const run = teller.submit(item)
    teller.claim(run)
    teller.end(run, 'final')
    teller.steer(run, 'retry')
    teller.claim(run)
    teller.end(run, 'value')
  },
  cancelled(teller, item) {
    const run = teller.submit(item)
    teller.steer(run, 'cancel')
  },
  kept(teller, item) {
    const run = teller.submit(item)
    teller.claim(run)
    teller.artifact(run, 'report')
    teller.end(run, 'later')
    teller.claim(run)
    teller.artifact(run, 'report')
    teller.end(run, 'value')
  },
  budgeted(teller, item) {
    const run = teller.submit(item)
    teller.claim(run)
    teller.call(run, 'paid', 1)
    teller.end(run, 'value')
  },
}
