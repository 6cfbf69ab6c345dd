import { Command, Option } from 'commander'
import { version } from './base/version.ts'
import { addBackupCommands } from './commands/backup/commands.ts'
import { addDistributeCommand } from './commands/distribute.ts'
import { addEraseCommand } from './commands/erase.ts'
import { addExportCommand } from './commands/export.ts'
import { addImportCommand } from './commands/import.ts'
import { addKeyCommands } from './commands/key.ts'
import { addMcpCommand } from './commands/mcp.ts'
import { addMemberCommands } from './commands/member.ts'
import { addRotateKeysCommands } from './commands/rotate-keys.ts'
import { addSimulateCommand } from './commands/simulate.ts'
import { describeProblem, say } from './commands/terminal.ts'
import { addTokenCommands } from './commands/token.ts'
import { addWorkspaceCommands } from './commands/workspace.ts'
import { loadConfig } from './config.ts'

// What a command needs is loaded when it runs: everything takes a second, and most need little.
const settings = 'Settings come from the environment; docs/operations.md lists them.'

const program = new Command('parley')
  .description('Leads and a chat inbox in one place, shared by people and AI agents.')
  .version(version)
  .showHelpAfterError()
program
  .command('serve')
  .description('run the service')
  .option('--json', 'say what a person would read as one line of JSON, on standard error')
  .addOption(
    new Option('--only <part>', 'run a part of it; any number of each on one DATABASE_URL').choices(['api', 'worker']),
  )
  .addHelpText(
    'after',
    `\n${settings}\n\nExample:\n  PARLEY_PORT=8080 parley serve\n  PARLEY_PORT=8081 parley serve --only worker\n`,
  )
  .action(async (options) => {
    const { serve } = await import('./commands/serve.ts')
    await serve(loadConfig(withTerminalDefaults(process.env)), options)
  })
program
  .command('migrate')
  .description('bring the database up to date and stop; serve does so by itself')
  .option('--json', 'answer with JSON')
  .addHelpText('after', `\n${settings}\n\nExample:\n  DATABASE_URL=postgres://parley@db/parley parley migrate\n`)
  .action(async (options) => {
    const { migrateDatabase } = await import('./commands/migrate.ts')
    await migrateDatabase(loadConfig(process.env), options)
  })
addKeyCommands(program)
addMemberCommands(program)
addWorkspaceCommands(program)
addTokenCommands(program)
addRotateKeysCommands(program)
addImportCommand(program)
addExportCommand(program)
addEraseCommand(program)
addDistributeCommand(program)
addBackupCommands(program)
addMcpCommand(program)
addSimulateCommand(program)

try {
  await program.parseAsync()
} catch (error) {
  say(describeProblem(error))
  process.exit(1)
}

// A person at a terminal wants to see what needs them, not a line for every request, and Ctrl+C to be the end of it.
function withTerminalDefaults(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  if (!process.stdout.isTTY) return env
  return {
    ...env,
    PARLEY_LOG_LEVEL: env.PARLEY_LOG_LEVEL || 'warn',
    PARLEY_DRAIN_SECONDS: env.PARLEY_DRAIN_SECONDS || '0',
  }
}
