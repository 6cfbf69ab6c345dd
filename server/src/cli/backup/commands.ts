import type { Command } from 'commander'
import type { BackupOptions } from './backup.ts'
import type { MoveOptions } from './move.ts'
import type { RestoreOptions } from './restore.ts'

/** `parley backup`, `parley restore`, `parley prove`, `parley move` */
export function addBackupCommands(program: Command): void {
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
    .action(async (options: BackupOptions) => {
      const { backUp } = await import('./backup.ts')
      await backUp(options)
    })
  program
    .command('restore')
    .description('restore a backup into an empty data folder and verify it')
    .requiredOption('--from <file>', 'backup to read; - is standard input')
    .option('--keys <file>', 'file of the master keys; default: those of the settings')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  parley restore --from parley.backup --keys parley.keys\n')
    .action(async (options: RestoreOptions) => {
      const { restore } = await import('./restore.ts')
      await restore(options)
    })
  program
    .command('prove')
    .description('verify that database, keys and files match and are complete, for example after a restore')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  DATABASE_URL=postgres://parley@db/parley parley prove\n')
    .action(async (options: { json?: boolean }) => {
      const { verifyInstallation } = await import('./verify.ts')
      await verifyInstallation(options)
    })
  program
    .command('move')
    .description('move the embedded database to an empty PostgreSQL database, with the service stopped')
    .requiredOption('--to <address>', 'address, as in DATABASE_URL; bypassing a pooler')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  PGPASSWORD=… parley move --to postgres://parley@db.example.com/parley\n')
    .action(async (options: MoveOptions) => {
      const { move } = await import('./move.ts')
      await move(options)
    })
}
