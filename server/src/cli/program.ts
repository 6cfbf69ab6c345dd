import { type Command, Option } from 'commander'
import { version } from '../base/version.ts'
import { type Config, loadConfig } from '../config.ts'
import type { BackupOptions } from './backup/backup.ts'
import type { MoveOptions } from './backup/move.ts'
import type { RestoreOptions } from './backup/restore.ts'
import { addConnectionCommands } from './connection.ts'
import { addDistributeCommand } from './distribute.ts'
import { addEraseCommand } from './erase.ts'
import { addKeyCommands } from './key.ts'
import { addKnowledgeCommands } from './knowledge.ts'
import { addMcpCommand } from './mcp.ts'
import { addRateCardCommands } from './rate-card.ts'
import { addRotateKeysCommands } from './rotate-keys.ts'
import { addScenarioCommands } from './scenarios/commands.ts'
import { addSimulateCommand } from './simulate.ts'
import { addMemberCommands, addTokenCommands, addWorkspaceCommands } from './team.ts'
import { withTeam, withWorkspace } from './team-call.ts'
import { printResult } from './terminal.ts'
import { addExportCommand, addImportCommand } from './transfer.ts'

// Modules are loaded when a command runs: loading all takes a second, and most commands need few.
const settings = 'Settings come from the environment; docs/operations.md lists them.'

/** Adds all commands of `parley` to `program` and returns it. */
export function addCommands(program: Command): Command {
  program
    .description('Leads and a chat inbox in one place, shared by people and AI agents.')
    .version(version)
    .showHelpAfterError()
  program
    .command('serve')
    .description('run the service')
    .option('--json', 'print the start message as one line of JSON, on standard error')
    .addOption(
      new Option('--only <part>', 'run only a part; any number of each can share one DATABASE_URL').choices([
        'api',
        'worker',
      ]),
    )
    .addHelpText(
      'after',
      `\n${settings}\n\nExample:\n  PARLEY_PORT=8080 parley serve\n  PARLEY_PORT=8081 parley serve --only worker\n`,
    )
    .action(async (options) => {
      const config = loadConfig(withTerminalDefaults(process.env))
      if (options.only !== undefined) requireSharedDatabase(config)
      const { beginStart } = await import('./start/begin-start.ts')
      const start = await beginStart(config)
      const { serve } = await import('./serve.ts')
      await serve(start, options)
    })
  program
    .command('migrate')
    .description('apply database migrations and exit; serve also does this at start')
    .option('--json', 'print JSON')
    .addHelpText('after', `\n${settings}\n\nExample:\n  DATABASE_URL=postgres://parley@db/parley parley migrate\n`)
    .action(async (options) => {
      const { migrateDatabase } = await import('./start/database.ts')
      await migrateDatabase(loadConfig(process.env), options)
    })
  addKeyCommands(program)
  addMemberCommands(program)
  addWorkspaceCommands(program)
  addTokenCommands(program)
  addRotateKeysCommands(program)
  addConnectionCommands(program)
  addRateCardCommands(program)
  addKnowledgeCommands(program)
  addImportCommand(program)
  addExportCommand(program)
  addEraseCommand(program)
  addDistributeCommand(program)
  addBackupCommands(program)
  addMcpCommand(program)
  addSimulateCommand(program)
  addScenarioCommands(program)
  addMailCommands(program)
  addReportCommands(program)
  return program
}

/** `parley backup`, `parley restore`, `parley prove`, `parley move` */
function addBackupCommands(program: Command): void {
  program
    .command('backup')
    .description('back up the embedded database and the files to one file, also while the service runs')
    .requiredOption('--to <file>', 'file to write; - is standard output')
    .option(
      '--keys <file>',
      'also write the master keys, which the backup does not contain, to a file to store separately',
    )
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  parley backup --to parley.backup --keys parley.keys\n')
    .action(async (options: BackupOptions) => (await import('./backup/backup.ts')).backUp(options))
  program
    .command('restore')
    .description('restore a backup into an empty data folder and verify it')
    .requiredOption('--from <file>', 'backup to read; - is standard input')
    .option('--keys <file>', 'file of the master keys; default: those of the settings')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  parley restore --from parley.backup --keys parley.keys\n')
    .action(async (options: RestoreOptions) => (await import('./backup/restore.ts')).restore(options))
  program
    .command('prove')
    .description('verify that database, keys and files match and are complete, for example after a restore')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  DATABASE_URL=postgres://parley@db/parley parley prove\n')
    .action(async (options: { json?: boolean }) => (await import('./backup/verify.ts')).verifyInstallation(options))
  program
    .command('move')
    .description('move the embedded database to an empty PostgreSQL database, with the service stopped')
    .requiredOption('--to <address>', 'address, as in DATABASE_URL; bypassing a pooler')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  PGPASSWORD=… parley move --to postgres://parley@db.example.com/parley\n')
    .action(async (options: MoveOptions) => (await import('./backup/move.ts')).move(options))
}

/** `parley mail …` */
function addMailCommands(program: Command): void {
  const mail = program.command('mail').description('check outgoing mail')
  mail
    .command('test <email>')
    .description('send a test mail now and print the answer of the mail server')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  parley mail test ana@example.com\n')
    .action(async (email: string, { json }: { json?: boolean }) => {
      const sent = await withTeam((call) => call<{ answer: string }>('POST', '/mail/test', { email }))
      printResult(json, sent, [`The mail server accepted the mail: ${sent.answer}`])
    })
}

/** `parley reports …` */
function addReportCommands(program: Command): void {
  const reports = program.command('reports').description('the numbers of reports')
  reports
    .command('rebuild')
    .description('count everything again from the recorded changes, in the background')
    .option('-w, --workspace <id or name>', 'required if there are several')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  parley reports rebuild\n')
    .action(async ({ workspace: wanted, json }: { workspace?: string; json?: boolean }) => {
      await withWorkspace(wanted, async (call, place, workspace, runtime) => {
        const result = await call<object>('POST', `${place}/reports/rebuild`)
        // Without a running service nobody would count.
        if (runtime !== null) {
          const [{ countAll }, { createFindLeads }] = await Promise.all([
            import('../reports/count-changes.ts'),
            import('../app/inbox.ts'),
          ])
          await countAll({ ...runtime, findLeads: createFindLeads(runtime) }, workspace.id)
        }
        const done = runtime === null ? 'The numbers are being counted again.' : 'The numbers were counted again.'
        printResult(json, result, [done])
      })
    })
}

function requireSharedDatabase({ database }: Config): void {
  if (database.url !== null) return
  throw new Error(
    '--only needs a database that several processes can use, and the embedded one serves one process. ' +
      'Set DATABASE_URL to a PostgreSQL server (15 to 18), or omit --only to run everything in one process.',
  )
}

// On a terminal, shows only warnings instead of every request, and stops immediately on Ctrl+C.
function withTerminalDefaults(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  if (!process.stdout.isTTY) return env
  return {
    ...env,
    PARLEY_LOG_LEVEL: env.PARLEY_LOG_LEVEL || 'warn',
    PARLEY_DRAIN_SECONDS: env.PARLEY_DRAIN_SECONDS || '0',
  }
}
