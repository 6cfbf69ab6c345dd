import type { Command } from 'commander'
import { withTeam } from './team-call.ts'
import { printResult } from './terminal.ts'

/** `parley mail …` */
export function addMailCommands(program: Command): void {
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
