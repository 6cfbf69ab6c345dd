import type { Command } from 'commander'
import type { BackupOptions } from './backup.ts'
import type { MoveOptions } from './move.ts'
import type { RestoreOptions } from './restore.ts'

/** `parley backup`, `parley restore`, `parley prove`, `parley move` */
export function addBackupCommands(program: Command): void {
  program
    .command('backup')
    .description('write the embedded database and the files to one file, also while the service runs')
    .requiredOption('--to <file>', 'where to; - is standard output')
    .option(
      '--keys <file>',
      'write the master keys, which the backup does not hold, to a file to be kept apart from it',
    )
    .option('--json', 'answer with JSON')
    .addHelpText('after', '\nExample:\n  parley backup --to parley.backup --keys parley.keys\n')
    .action(async (options: BackupOptions) => {
      const { backUp } = await import('./backup.ts')
      await backUp(options)
    })
  program
    .command('restore')
    .description('restore a backup into an empty data folder, and prove that it is whole')
    .requiredOption('--from <file>', 'the backup; - is standard input')
    .option('--keys <file>', 'the master keys that were written with it; else those of the settings')
    .option('--json', 'answer with JSON')
    .addHelpText('after', '\nExample:\n  parley restore --from parley.backup --keys parley.keys\n')
    .action(async (options: RestoreOptions) => {
      const { restore } = await import('./restore.ts')
      await restore(options)
    })
  program
    .command('prove')
    .description('prove that database, keys and files belong together and are whole, as after a restore')
    .option('--json', 'answer with JSON')
    .addHelpText('after', '\nExample:\n  DATABASE_URL=postgres://parley@db/parley parley prove\n')
    .action(async (options: { json?: boolean }) => {
      const { proveInstallation } = await import('./verify.ts')
      await proveInstallation(options)
    })
  program
    .command('move')
    .description('move the embedded database, with the service stopped, to an empty PostgreSQL of yours')
    .requiredOption('--to <address>', 'as in DATABASE_URL; past a pooler')
    .option('--json', 'answer with JSON')
    .addHelpText('after', '\nExample:\n  PGPASSWORD=… parley move --to postgres://parley@db.example.com/parley\n')
    .action(async (options: MoveOptions) => {
      const { move } = await import('./move.ts')
      await move(options)
    })
}
