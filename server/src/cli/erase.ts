import { createInterface } from 'node:readline/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Command, Option } from 'commander'
import { isUuid } from '../base/id.ts'
import type { OpenRuntime } from './start/runtime.ts'
import { type TeamCall, withWorkspace } from './team-call.ts'
import { answer, say, table } from './terminal.ts'

interface Choice {
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

const word = 'erase'
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

async function erase({ workspace: wanted, dryRun, yes, json, ...names }: Choice): Promise<void> {
  if (Object.keys(names).length === 0) throw new Error('--phone, --email, --lead or --conversation is required')
  await withWorkspace(wanted, async (call, place, workspace, runtime) => {
    const name = await readName(call, place, names)
    const { found } = await call<{ found: Counts }>('POST', `${place}/erasures`, { ...name, dryRun: true })
    if (dryRun) return answer(json, { found }, ['Would be erased:', ...lines(found)])
    if (!yes && !(await confirm(workspace.name, found))) throw new Error('Nothing was erased')
    const begun = await call<{ erasure: Erasure }>('POST', `${place}/erasures`, name)
    const erasure = await follow(call, runtime, place, begun.erasure)
    answer(json, { erasure }, ['Erased:', ...lines(erasure.removed)])
  })
}

async function readName(call: TeamCall, place: string, { phone, email, lead, conversation }: Choice): Promise<object> {
  if (phone !== undefined) return { phone }
  if (email !== undefined) return { email }
  if (conversation !== undefined) return { conversationId: conversation }
  if (lead !== undefined && isUuid(lead)) return { leadId: lead }
  const found = await call<{ lead: { id: string } }>('GET', `${place}/leads/${encodeURIComponent(lead ?? '')}`)
  return { leadId: found.lead.id }
}

const lines = (counts: Counts): string[] => {
  const rows = Object.entries(counts).filter(([, count]) => count > 0)
  return rows.length === 0 ? ['  nothing'] : table(rows.map(([kind, count]) => [`  ${kind}`, String(count)]))
}

async function confirm(workspace: string, found: Counts): Promise<boolean> {
  if (!process.stdin.isTTY) throw new Error('Cannot ask for confirmation without a terminal: use --yes')
  for (const line of [`To be erased from ${workspace}:`, ...lines(found), 'This cannot be undone.']) say(line)
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return (await terminal.question(`Type ${word} to continue: `)).trim() === word
  } finally {
    terminal.close()
  }
}

/** Waits for the erasure. Without a server, whose worker would complete it, completes it here. */
async function follow(call: TeamCall, runtime: OpenRuntime | null, place: string, begun: Erasure): Promise<Erasure> {
  let erasure = begun
  while (erasure.state === 'running') {
    if (runtime === null) await sleep(pollMs)
    else await workBeside(runtime, place, begun.id)
    erasure = (await call<{ erasure: Erasure }>('GET', `${place}/erasures/${begun.id}`)).erasure
  }
  return erasure
}

async function workBeside(runtime: OpenRuntime, place: string, id: string): Promise<void> {
  const [{ erasureDeps }, { runErasure }] = await Promise.all([
    import('../app/erasure.ts'),
    import('../erasure/run.ts'),
  ])
  await runErasure(erasureDeps(runtime), place.slice(place.lastIndexOf('/') + 1), id, pollMs)
}
