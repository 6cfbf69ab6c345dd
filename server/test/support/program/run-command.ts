import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { Command } from 'commander'
import { addCommands } from '../../../src/cli/program.ts'
import { describeProblem, replaceTerminal } from '../../../src/cli/terminal.ts'
import { mainProgram } from './service.ts'

export interface CommandResult {
  exitCode: number | null
  stdout: string
  stderr: string
}

/** Runs `parley …` until it exits; `flags` are options of Node. */
export async function runCommand(args: string[], env: NodeJS.ProcessEnv, flags: string[] = []): Promise<CommandResult> {
  const child = spawn(process.execPath, [...flags, mainProgram, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const [stdout, stderr, exitCode] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.once('close', resolve)),
  ])
  return { exitCode, stdout, stderr }
}

/** Runs `parley …` in this process, which is much faster. Commands must not run in parallel, because they share `process.env`. */
export async function runCommandInProcess(args: string[], env: NodeJS.ProcessEnv): Promise<CommandResult> {
  const [stdout, stderr]: [string[], string[]] = [[], []]
  const out = (text: string) => void stdout.push(text)
  const err = (text: string) => void stderr.push(text)
  const resultOf = (exitCode: number) => ({ exitCode, stdout: stdout.join(''), stderr: stderr.join('') })
  const before = { env: process.env, terminal: replaceTerminal({ out, err }) }
  process.env = { ...env }
  try {
    const program = new Command('parley').exitOverride().configureOutput({ writeOut: out, writeErr: err })
    await addCommands(program).parseAsync(args, { from: 'user' })
    return resultOf(Number(process.exitCode ?? 0))
  } catch (error) {
    // Commander has already printed its own errors.
    if (!(error instanceof Error && 'exitCode' in error)) err(`${describeProblem(error)}\n`)
    return resultOf(1)
  } finally {
    process.env = before.env
    process.exitCode = undefined
    replaceTerminal(before.terminal)
  }
}
