/**
 * The real console of this process, as the plain streams that a Terminal is made of.
 * It is the only file of the command line that reads `process`; nothing here lays out or colours.
 */
import type { Console, Stream } from './terminal.ts'

export function processConsole(): Console {
  return {
    stdout: streamOf(process.stdout),
    stderr: streamOf(process.stderr),
    // The stream is opened on first use: touching stdin would keep commands that never read it from ending.
    stdin: {
      get isTTY() {
        return process.stdin.isTTY === true
      },
      [Symbol.asyncIterator]: () => process.stdin[Symbol.asyncIterator](),
    },
    env: process.env,
  }
}

function streamOf(stream: NodeJS.WriteStream): Stream {
  return {
    isTTY: stream.isTTY === true,
    columns: () => stream.columns || undefined,
    rows: () => stream.rows || undefined,
    write: (text) => void stream.write(text),
    drained: () =>
      stream.writableNeedDrain ? new Promise((resolve) => stream.once('drain', resolve)) : Promise.resolve(),
    onResize: (listener) => {
      stream.on('resize', listener)
      return () => stream.off('resize', listener)
    },
  }
}
