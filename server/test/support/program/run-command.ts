import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { mainProgram } from './service.ts'

export interface CommandResult {
  exitCode: number | null
  stdout: string
  stderr: string
}

/** Runs `parley …` to its end; `flags` are those of Node. */
export async function runCommand(args: string[], env: NodeJS.ProcessEnv, flags: string[] = []): Promise<CommandResult> {
  const child = spawn(process.execPath, [...flags, mainProgram, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const [stdout, stderr, exitCode] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.once('close', resolve)),
  ])
  return { exitCode, stdout, stderr }
}
