import type { Command } from 'commander'
import { withWorkspace } from './team-call.ts'
import { printResult } from './terminal.ts'

/** `parley reports …` */
export function addReportCommands(program: Command): void {
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
