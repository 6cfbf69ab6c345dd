import { purposes } from '../../auth/api-keys/caller.ts'
import type { SandboxSettings } from '../scenario/scenario-schema.ts'
import { createSandbox, removeSandbox, type SandboxDeps } from './sandbox.ts'
import { openSimulator, type SimulatedNumber, type SimulatorClient } from './simulated-customers.ts'

/** Sends a request to the team API as the service itself. Throws the `ApiError` of the API if it is refused. */
export type TeamCall = <Answer>(
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  path: string,
  body?: object,
  headers?: Record<string, string>,
) => Promise<Answer>

export interface RunDeps extends SandboxDeps {
  call: TeamCall
  /** Address of the simulator; null: there is none. */
  simulatorUrl: string | null
  /** Address at which the simulator reaches this service. */
  ownUrl: string
}

/** A sandbox in which scenarios run. */
export interface Sandbox {
  workspaceId: string
  /** Path of the workspace in the team API. */
  place: string
  keyId: string
  /** Value of the agent's key. */
  key: string
  /** Secret of the webhook; null without one. */
  webhookSecret: string | null
  number: SimulatedNumber
  simulator: SimulatorClient
  labelIds: ReadonlyMap<string, string>
}

export interface SandboxRequest {
  settings: SandboxSettings
  /** Instructions in place of those of the settings; null: none. */
  instructions: string | null
  /** Name of the agent. */
  agent: string
  /** Where the agent receives events; null: it asks for work. */
  webhookUrl: string | null
  createdBy: { type: 'user' | 'token'; id: string }
}

const day = (isOpen: boolean) => (isOpen ? [{ from: '00:00', to: '24:00' }] : [])
const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const
const defaultQuietSeconds = 1

/** Creates a sandbox by the ordinary operations: a workspace, its one connection, and a key that gets nothing yet. */
export async function prepareSandbox(deps: RunDeps, simulatorUrl: string, request: SandboxRequest): Promise<Sandbox> {
  const { settings, agent, webhookUrl } = request
  const { call } = deps
  const simulator = openSimulator(simulatorUrl)
  const number = await simulator.addNumber(`Scenarios of ${agent}`.slice(0, 100))
  const workspaceId = await createSandbox(deps, `Scenarios of ${agent}`.slice(0, 100), request.createdBy)
  const place = `/workspaces/${workspaceId}`
  try {
    await call('PATCH', place, workspaceChanges(request))
    const labelIds = new Map<string, string>()
    for (const name of settings.labels ?? []) {
      const { label } = await call<{ label: { id: string } }>('POST', `${place}/labels`, { name, color: 'blue' })
      labelIds.set(name, label.id)
    }
    const { numberId, accountId, accessToken, appSecret, verifyToken } = number
    const access = { numberId, accountId, accessToken, appSecret, verifyToken, baseUrl: simulatorUrl }
    const { connection } = await call<{ connection: { id: string } }>('POST', `${place}/connections`, {
      ...{ channel: 'waba', name: 'Simulator', mustAnswer: true },
      ...access,
    })
    await simulator.setCallback(numberId, `${deps.ownUrl}/channels/waba/${connection.id}/webhook`)
    await addTemplates(deps, { simulator, place, connectionId: connection.id }, settings.templates ?? [])
    const { key, value } = await call<{ key: { id: string }; value: string }>('POST', `${place}/keys`, keyOf(request))
    const webhookSecret = webhookUrl === null ? null : await addWebhook(deps, place, webhookUrl)
    return { workspaceId, place, keyId: key.id, key: value, webhookSecret, number, simulator, labelIds }
  } catch (error) {
    await simulator.removeNumber(number.numberId).catch(() => {})
    await removeSandbox(deps.db, workspaceId)
    throw error
  }
}

function workspaceChanges({ settings, instructions }: SandboxRequest): object {
  const { open = null, leadStatuses } = settings
  const word = instructions ?? settings.instructions ?? null
  const week = Object.fromEntries(weekdays.map((name) => [name, day(open === true)]))
  return {
    defaultCountry: 'BR',
    agentWord: word?.trim() ? word : null,
    hours: open === null ? null : { timeZone: 'America/Sao_Paulo', week },
    ...(leadStatuses !== undefined && { leadStatuses }),
  }
}

function keyOf({ settings, agent }: SandboxRequest): object {
  const { approval, maskPhones = false, quietSeconds = defaultQuietSeconds, maxParts, unansweredSends } = settings
  return {
    name: agent,
    scopes: purposes.replying.scopes,
    // Until everything is prepared, conversations go to people.
    answersNewConversations: false,
    phoneVisibility: maskPhones ? 'masked' : 'full',
    quietSeconds,
    ...(maxParts !== undefined && { maxParts }),
    ...(unansweredSends !== undefined && { unansweredSends }),
    ...(approval !== undefined && {
      approval: {
        always: approval === 'always',
        outsideHours: approval === 'outside_hours',
        firstAnswers: approval === 'first_answers',
        labelIds: [],
        amountFrom: null,
      },
    }),
  }
}

async function addTemplates(
  { call }: RunDeps,
  { simulator, place, connectionId }: { simulator: SimulatorClient; place: string; connectionId: string },
  templates: NonNullable<SandboxSettings['templates']>,
): Promise<void> {
  if (templates.length === 0) return
  for (const { name, language, category = 'UTILITY', body } of templates) {
    const components = [{ type: 'BODY', text: body }]
    await simulator.addTemplate({ name, language, category, status: 'APPROVED', components })
  }
  await call('POST', `${place}/connections/${connectionId}/templates/sync`)
}

async function addWebhook({ call }: RunDeps, place: string, url: string): Promise<string> {
  const { secret } = await call<{ secret: string }>('POST', `${place}/webhooks`, { url, events: ['inbox.*'] })
  return secret
}

/** Lets the agent get new conversations: from now on customers may write. */
export async function openSandbox({ call }: RunDeps, { place, keyId }: Sandbox): Promise<void> {
  await call('PATCH', `${place}/keys/${keyId}`, { answersNewConversations: true })
}

/** Ends a sandbox: first nothing can arrive any more, then everything is deleted. */
export async function closeSandbox({ db, call }: RunDeps, sandbox: Sandbox): Promise<void> {
  await call('DELETE', `${sandbox.place}/keys/${sandbox.keyId}`).catch(() => {})
  await sandbox.simulator.removeNumber(sandbox.number.numberId).catch(() => {})
  await removeSandbox(db, sandbox.workspaceId)
}
