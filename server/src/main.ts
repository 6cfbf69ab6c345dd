import { Command } from 'commander'
import { addCommands } from './cli/program.ts'
import { describeProblem, say } from './cli/terminal.ts'

try {
  await addCommands(new Command('parley')).parseAsync()
} catch (error) {
  say(describeProblem(error))
  process.exit(1)
}
