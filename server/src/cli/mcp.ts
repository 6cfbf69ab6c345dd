import { type Command, Option } from 'commander'
import { isLoopback } from '../base/outgoing/address.ts'
import { loadConfig } from '../config.ts'
import { runningServer } from './team-call.ts'
import { say } from './terminal.ts'

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
  const warning = warningOf(new URL(address))
  if (warning !== null) say(warning)
  // The protocol takes a quarter of a second to load, which other commands do without.
  const { relay } = await import('./mcp-relay.ts')
  await relay(new URL('/mcp', address), key)
}

/** What to say of an address to which the key would go as it is. Within a private network it may: so it is not refused. */
export function warningOf({ protocol, hostname }: URL): string | null {
  return protocol === 'https:' || isLoopback(hostname)
    ? null
    : `Warning: ${hostname} is called by http, so that others on the way can read the API key. Use https.`
}
