import { type Command, Option } from 'commander'
import { version } from '../base/version.ts'
import { type Config, loadConfig } from '../config.ts'
import { addBackupCommands } from './backup/commands.ts'
import { addConnectionCommands } from './connection.ts'
import { addDistributeCommand } from './distribute.ts'
import { addEraseCommand } from './erase.ts'
import { addKeyCommands } from './key.ts'
import { addKnowledgeCommands } from './knowledge.ts'
import { addMailCommands } from './mail.ts'
import { addMcpCommand } from './mcp.ts'
import { addRateCardCommands } from './rate-card.ts'
import { addReportCommands } from './reports.ts'
import { addRotateKeysCommands } from './rotate-keys.ts'
import { addScenarioCommands } from './scenarios/commands.ts'
import { addSimulateCommand } from './simulate.ts'
import { addMemberCommands, addTokenCommands, addWorkspaceCommands } from './team.ts'
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
