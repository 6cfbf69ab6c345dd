import { createInterface } from 'node:readline/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Command, Option } from 'commander'
import { isUuid } from '../base/id.ts'
import type { OpenRuntime } from './start/runtime.ts'
import { type TeamCall, withWorkspace } from './team-call.ts'
import { printMessage, printResult, table } from './terminal.ts'

interface EraseOptions {
  phone?: string
  email?: string
  lead?: string
  conversation?: string
  workspace?: string
  dryRun?: boolean
  yes?: boolean
  json?: boolean
}

type Counts = Record<string, number>
interface Erasure {
  id: string
  state: 'running' | 'done'
  removed: Counts
}

const confirmationWord = 'erase'
const pollMs = 1_000

/** `parley erase` */
export function addEraseCommand(program: Command): void {
  const names = ['phone', 'email', 'lead', 'conversation']
  const others = (name: string) => names.filter((one) => one !== name)
  program
    .command('erase')
    .description('erase a customer from a workspace: leads, conversations, events and all other data about them')
    .addOption(
      new Option('--phone <number>', 'phone number with country code, in any format').conflicts(others('phone')),
    )
    .addOption(new Option('--email <address>', 'all leads with this e-mail').conflicts(others('email')))
    .addOption(new Option('--lead <id or uniqueCode>', 'a lead, with its phone and e-mail').conflicts(others('lead')))
    .addOption(new Option('--conversation <id>', 'for a customer without a phone').conflicts(others('conversation')))
    .option('-w, --workspace <id or name>', 'required if there are several')
    .option('--dry-run', 'print what would be erased, without erasing it')
    .option('-y, --yes', 'do not ask for confirmation')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  parley erase --phone "+55 81 99123-4567" --dry-run\n')
    .action(erase)
}

async function erase({ workspace: requested, dryRun, yes, json, ...names }: EraseOptions): Promise<void> {
  if (Object.keys(names).length === 0) throw new Error('--phone, --email, --lead or --conversation is required')
  await withWorkspace(requested, async (call, place, workspace, runtime) => {
    const name = await resolveIdentifier(call, place, names)
    const { found } = await call<{ found: Counts }>('POST', `${place}/erasures`, { ...name, dryRun: true })
    if (dryRun) return printResult(json, { found }, ['Would be erased:', ...countLines(found)])
    if (!yes && !(await confirm(workspace.name, found))) throw new Error('Nothing was erased')
    const started = await call<{ erasure: Erasure }>('POST', `${place}/erasures`, name)
    const erasure = await follow(call, runtime, place, started.erasure)
    printResult(json, { erasure }, ['Erased:', ...countLines(erasure.removed)])
  })
}

async function resolveIdentifier(
  call: TeamCall,
  place: string,
  { phone, email, lead, conversation }: EraseOptions,
): Promise<object> {
  if (phone !== undefined) return { phone }
  if (email !== undefined) return { email }
  if (conversation !== undefined) return { conversationId: conversation }
  if (lead !== undefined && isUuid(lead)) return { leadId: lead }
  const found = await call<{ lead: { id: string } }>('GET', `${place}/leads/${encodeURIComponent(lead ?? '')}`)
  return { leadId: found.lead.id }
}

const countLines = (counts: Counts): string[] => {
  const rows = Object.entries(counts).filter(([, count]) => count > 0)
  return rows.length === 0 ? ['  nothing'] : table(rows.map(([kind, count]) => [`  ${kind}`, String(count)]))
}

async function confirm(workspace: string, found: Counts): Promise<boolean> {
  if (!process.stdin.isTTY) throw new Error('Cannot ask for confirmation without a terminal: use --yes')
  for (const line of [`To be erased from ${workspace}:`, ...countLines(found), 'This cannot be undone.'])
    printMessage(line)
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return (await terminal.question(`Type ${confirmationWord} to continue: `)).trim() === confirmationWord
  } finally {
    terminal.close()
  }
}

/** Waits for the erasure. Without a server, whose worker would complete it, completes it here. */
async function follow(call: TeamCall, runtime: OpenRuntime | null, place: string, started: Erasure): Promise<Erasure> {
  let erasure = started
  while (erasure.state === 'running') {
    if (runtime === null) await sleep(pollMs)
    else await runErasureLocally(runtime, place, started.id)
    erasure = (await call<{ erasure: Erasure }>('GET', `${place}/erasures/${started.id}`)).erasure
  }
  return erasure
}

async function runErasureLocally(runtime: OpenRuntime, place: string, id: string): Promise<void> {
  const [{ erasureDeps }, { runErasure }] = await Promise.all([
    import('../app/erasure.ts'),
    import('../erasure/run.ts'),
  ])
  await runErasure(erasureDeps(runtime), place.slice(place.lastIndexOf('/') + 1), id, pollMs)
}
