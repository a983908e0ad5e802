/**
 * Runs a program of the tests until it ends by itself or is killed as kill -9 does.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'

/** Its exit code, or the signal that ended it. `kill` says when, counted from the program's first message. */
export async function playUntilKilled(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  kill?: () => Promise<unknown>,
): Promise<number | string | null> {
  const child = fork(program, [...args], { env: { ...process.env, ...env }, stdio: 'inherit' })
  const ended = once(child, 'exit') as Promise<[number | null, string | null]>
  if (kill) {
    await Promise.race([once(child, 'message'), ended])
    await Promise.race([kill(), ended])
    child.kill('SIGKILL')
  }
  const [code, signal] = await ended
  return signal ?? code
}
