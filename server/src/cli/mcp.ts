import { type Command, Option } from 'commander'
import { isLoopback } from '../base/outgoing/address.ts'
import { loadConfig } from '../config.ts'
import { runningServer } from './team-call.ts'
import { printMessage } from './terminal.ts'

interface McpOptions {
  key?: string
  url?: string
}

/** `parley mcp` */
export function addMcpCommand(program: Command): void {
  program
    .command('mcp')
    .description('connect an MCP client on standard input and output to a running service')
    .addOption(
      new Option('-k, --key <key>', 'the API key to use; other users of the machine can see this argument').env(
        'PARLEY_KEY',
      ),
    )
    .addOption(
      new Option('-u, --url <address>', 'address of the service; default: the one on this data folder').env(
        'PARLEY_URL',
      ),
    )
    .addHelpText(
      'after',
      `
For clients that start a program and cannot call /mcp of the service directly.

Example, in the settings of such a client:
  {"mcpServers": {"parley": {
    "command": "npx", "args": ["parley", "mcp", "--url", "https://parley.example.com"],
    "env": {"PARLEY_KEY": "plk_…"}}}}
`,
    )
    .action(runMcp)
}

async function runMcp({ key, url }: McpOptions): Promise<void> {
  if (key === undefined) {
    throw new Error('Set the API key with PARLEY_KEY or --key. Create one with: parley key create')
  }
  const address = url ?? (await runningServer(loadConfig(process.env)))?.url
  if (address === undefined) {
    throw new Error('No service runs on this data folder. Start it, or set its address with --url.')
  }
  if (!URL.canParse(address) || !/^https?:/.test(address)) {
    throw new Error('--url must be an http or https address, such as https://parley.example.com')
  }
  const warning = warningOf(new URL(address))
  if (warning !== null) printMessage(warning)
  // Loaded on demand: the protocol takes a quarter of a second to load.
  const { relay } = await import('./mcp-relay.ts')
  await relay(new URL('/mcp', address), key)
}

/** Returns a warning if the key would be sent unencrypted. Not an error, because private networks may do so. */
export function warningOf({ protocol, hostname }: URL): string | null {
  return protocol === 'https:' || isLoopback(hostname)
    ? null
    : `Warning: ${hostname} is called by http, so others on the network can read the API key. Use https.`
}
