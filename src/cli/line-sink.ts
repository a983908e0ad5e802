/**
 * Where an export goes, line by line: the screen, or a new file that is never a file that was there.
 */
import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { CliError } from './cli-error.ts'
import type { Frame } from './frame.ts'
import { shown } from './terminal/text.ts'

export interface Sink extends AsyncDisposable {
  line(text: string): Promise<void>
}

export function openSink(name: string | undefined, frame: Frame): Promise<Sink> {
  return name === undefined ? Promise.resolve(toScreen(frame)) : toFile(name, frame.cwd)
}

function toScreen(frame: Frame): Sink {
  const { out } = frame.terminal()
  return {
    async line(text) {
      out.lines(text)
      await out.drained()
    },
    async [Symbol.asyncDispose]() {},
  }
}

async function toFile(name: string, cwd: string): Promise<Sink> {
  const path = resolve(cwd, name)
  // Created and not replaced: an export is often the only copy of something.
  const file = await open(path, 'wx').catch((cause: NodeJS.ErrnoException) => {
    throw new CliError({
      code: 'FILE_UNWRITABLE',
      message: `The file ${shown(name)} cannot be made.`,
      cause: cause.code === 'EEXIST' ? 'it exists already' : cause,
      exit: 2,
    })
  })
  return {
    line: async (text) => void (await file.appendFile(`${text}\n`)),
    async [Symbol.asyncDispose]() {
      await file.sync()
      await file.close()
    },
  }
}
