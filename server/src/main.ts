import { Command } from 'commander'
import { addCommands } from './cli/program.ts'
import { describeProblem, printMessage } from './cli/terminal.ts'

try {
  await addCommands(new Command('parley')).parseAsync()
} catch (error) {
  printMessage(describeProblem(error))
  process.exit(1)
}
