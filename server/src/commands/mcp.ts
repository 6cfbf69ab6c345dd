import { type Command, Option } from 'commander'
import { loadConfig } from '../config.ts'
import { runningServer } from './team-call.ts'

interface McpOptions {
  key?: string
  url?: string
}

/** `parley mcp` */
export function addMcpCommand(program: Command): void {
  program
    .command('mcp')
    .description('speak the Model Context Protocol on standard input and output, with a service that runs')
    .addOption(
      new Option('-k, --key <key>', 'the API key to act as; other users of the machine see what stands here').env(
        'PARLEY_KEY',
      ),
    )
    .addOption(
      new Option('-u, --url <address>', 'where the service is; the one on this data folder unless given').env(
        'PARLEY_URL',
      ),
    )
    .addHelpText(
      'after',
      `
For clients that start a program, and cannot call /mcp of the service by themselves.

Example, as such a client has it in its settings:
  {"mcpServers": {"parley": {
    "command": "npx", "args": ["parley", "mcp", "--url", "https://parley.example.com"],
    "env": {"PARLEY_KEY": "plk_…"}}}}
`,
    )
    .action(speak)
}

async function speak({ key, url }: McpOptions): Promise<void> {
  if (key === undefined) {
    throw new Error('Give the API key to act as with PARLEY_KEY or --key. parley key create makes one.')
  }
  const address = url ?? (await runningServer(loadConfig(process.env)))?.url
  if (address === undefined) {
    throw new Error('No service runs on this data folder. Start it, or say where it is with --url.')
  }
  if (!URL.canParse(address) || !/^https?:/.test(address)) {
    throw new Error('--url must be an address, as in https://parley.example.com')
  }
  // The protocol takes a quarter of a second to load, which other commands do without.
  const { relay } = await import('./mcp-relay.ts')
  await relay(new URL('/mcp', address), key)
}
