import { setTimeout as sleep } from 'node:timers/promises'
import { type Command, Option } from 'commander'
import { type Loop, startLoop } from '../base/async/loop.ts'
import type { Purpose } from '../key-rotation/table-rewrite.ts'
import type { OpenRuntime } from './start/runtime.ts'
import { pickWorkspace, type TeamCall, withTeam } from './team-call.ts'
import { describeProblem, openProgress, printMessage, printResult } from './terminal.ts'

interface RotateOptions {
  workspace?: string
  all?: boolean
  json?: boolean
}

interface Progress {
  since: string
  running: number
  finished: number
  rowsTotal: number
  rowsDone: number
  rowsPerSecond: number | null
  secondsLeft: number | null
}

interface MasterRotationResult {
  masterKeyId: string
  rewrapped: number
  previousFile: string | null
}

/** `parley rotate-keys …` */
export function addRotateKeysCommands(program: Command): void {
  const rotate = program
    .command('rotate-keys')
    .description('rotate keys while the service is in use; see docs/operations.md')
  rotate
    .command('master')
    .description('wrap all secrets with a new master key; takes seconds')
    .option('--json', 'print JSON')
    .action(rotateMaster)
  const kinds = { data: 'encrypt all values', index: 'compute all digests and search tokens' } as const
  for (const [purpose, description] of Object.entries(kinds) as [Purpose, string][]) {
    rotate
      .command(purpose)
      .description(`${description} with a new key; the command can be stopped and run again`)
      .addOption(new Option('-w, --workspace <id or name>', 'one workspace').conflicts('all'))
      .option('--all', 'all workspaces, and the people of the installation')
      .option('--json', 'print JSON')
      .addHelpText('after', `\nExample:\n  parley rotate-keys ${purpose} --all\n`)
      .action((choice: RotateOptions) => rotateScopes(purpose, choice))
  }
}

async function rotateMaster({ json }: { json?: boolean }): Promise<void> {
  const done = await withTeam((call) => call<MasterRotationResult>('POST', '/master-key-rotations'))
  const what = `${done.rewrapped} secrets rewrapped; all secrets are now wrapped by master key ${done.masterKeyId}`
  const next =
    done.previousFile === null
      ? 'Keys in PARLEY_PREVIOUS_MASTER_KEYS are needed only for earlier backups.'
      : `Back up the new key. The previous one is needed only for earlier backups: ${done.previousFile}`
  printResult(json, done, [what, next])
}

async function rotateScopes(purpose: Purpose, { workspace, all, json }: RotateOptions): Promise<void> {
  const done = await withTeam(async (call, runtime) => {
    const workspaceId = all ? null : (await pickWorkspace(call, workspace)).id
    printMessage(
      runtime === null
        ? 'The service does the work. You can stop this command, and run it again to follow.'
        : 'No service is running, so this command does the work. If you stop it, run it again or start the service.',
    )
    const worker = runtime === null ? null : await runRotationsLocally(runtime)
    try {
      const started = await call<Progress>('POST', '/key-rotations', { purpose, workspaceId })
      return await follow(call, started)
    } finally {
      await worker?.stop()
    }
  })
  printResult(json, done, [`Rotated the ${purpose} key: ${done.rowsDone} rows rewritten`])
}

/** Runs the rotation in this process, because no service is running. */
async function runRotationsLocally({ db, keyStore, clock }: OpenRuntime): Promise<Loop> {
  const [{ keyedTables }, { runRotationSteps }] = await Promise.all([
    import('../app/tables.ts'),
    import('../key-rotation/rotation.ts'),
  ])
  return startLoop(
    { firstAfterMs: 0, pauseMs: 200 },
    () => runRotationSteps({ db, keyStore, clock, tables: keyedTables }),
    (error) => printMessage(describeProblem(error)),
  )
}

const pollMs = 1_000

async function follow(call: TeamCall, started: Progress): Promise<Progress> {
  const bar = openProgress()
  let progress = started
  while (progress.running > 0) {
    bar.show(progress.rowsDone / (progress.rowsTotal || 1), describeProgress(progress))
    await sleep(pollMs)
    progress = await call<Progress>('GET', `/key-rotations?since=${encodeURIComponent(started.since)}`)
  }
  bar.end()
  return progress
}

function describeProgress({ running, rowsTotal, rowsDone, rowsPerSecond, secondsLeft }: Progress): string {
  if (rowsTotal === 0) return `${running} rotations: waiting a minute until every node has the new key`
  const pace = rowsPerSecond === null ? '' : `, ${rowsPerSecond} rows/s, ${secondsLeft} s left`
  return `${rowsDone} of ${rowsTotal} rows${pace}`
}
