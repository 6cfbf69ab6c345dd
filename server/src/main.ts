import { Command } from 'commander'
import { addCommands } from './commands/program.ts'
import { describeProblem, say } from './commands/terminal.ts'

try {
  await addCommands(new Command('parley')).parseAsync()
} catch (error) {
  say(describeProblem(error))
  process.exit(1)
}
