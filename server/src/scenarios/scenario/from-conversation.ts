import type { ConversationState } from '../run/sandbox-state.ts'
import { createReplacer, type Replacer } from './replace-personal-data.ts'
import { maxSteps, type Scenario, type Step } from './scenario-schema.ts'

type Item = ConversationState['items'][number]

/** What is known of the customer, whose names are replaced. */
export interface ConversationSource extends ConversationState {
  lead: { firstName: string | null; lastName: string | null; status: string } | null
  /** Names of people and of the customer's profile. */
  names: readonly (string | null)[]
}

const maxText = 4000
const longPauseMs = 10 * 60_000
const longPauseSeconds = 5
const maxSecondsBetween = 5

const sendable = ['image', 'video', 'audio', 'voice', 'document', 'sticker', 'location', 'contacts'] as const
type Sendable = (typeof sendable)[number]

/**
 * Returns a scenario that plays a conversation: its customer's messages in order, with samples in place of files and
 * short pauses, and what people did. Personal data is replaced by invented data, the same everywhere. A person has to
 * read it: no pattern finds everything.
 */
export function makeScenario(source: ConversationSource, name: string): Scenario {
  const { lead, names, items } = source
  const replace = createReplacer([lead?.firstName, lead?.lastName, ...names])
  const script = stepsOf(items, replace).slice(0, maxSteps)
  const handedOver = items.some(
    ({ activity }) => activity?.kind === 'owner' && activity.to === 'human' && activity.actor.type === 'agent',
  )
  return {
    name,
    title: 'Made of a conversation',
    about: 'Read it, and remove what could identify someone, before you save it.',
    ...(lead !== null && {
      start: {
        customer: 'Vera Sampaio',
        lead: { firstName: 'Vera', lastName: 'Sampaio', status: lead.status },
      },
    }),
    script: script.length > 0 ? script : ['Hello'],
    expect: handedOver ? { handedOver: true } : { answers: true, messages: { atMost: 3 } },
  }
}

/** Messages of the customer without an answer in between. */
interface Burst {
  texts: string[]
  startedMs: number
  endedMs: number
}

function stepsOf(items: readonly Item[], replace: Replacer): Step[] {
  const steps: Step[] = []
  let burst: Burst | null = null
  let lastMs: number | null = null
  const flush = () => {
    if (burst !== null) steps.push(stepOf(burst))
    burst = null
  }
  for (const item of items) {
    const atMs = new Date(item.at).getTime()
    const { message, activity } = item
    if (message?.direction === 'inbound') {
      if (burst === null && lastMs !== null && atMs - lastMs > longPauseMs) steps.push({ pause: longPauseSeconds })
      lastMs = atMs
      const kind = sendable.find((one) => one === message.kind)
      const text = replace(message.text).slice(0, maxText).toWellFormed()
      if (kind !== undefined) {
        flush()
        steps.push(sentStep(kind, text))
      } else if (text.trim() !== '') {
        burst ??= { texts: [], startedMs: atMs, endedMs: atMs }
        burst.texts.push(text)
        burst.endedMs = atMs
        if (burst.texts.length === 10) flush()
      }
    } else if (message !== undefined) {
      flush()
      lastMs = atMs
    } else if (activity?.kind === 'owner' && (activity.actor.type === 'user' || activity.actor.type === 'token')) {
      flush()
      steps.push({ team: activity.to === 'human' ? 'takes_over' : 'hands_back' })
    }
  }
  flush()
  return steps
}

const isCaptioned = (kind: Sendable): boolean => ['image', 'video', 'document'].includes(kind)

const sentStep = (kind: Sendable, text: string): Step =>
  isCaptioned(kind) && text.trim() !== '' ? { send: kind, caption: text.slice(0, 1000).toWellFormed() } : { send: kind }

function stepOf({ texts, startedMs, endedMs }: Burst): Step {
  const [only = ''] = texts
  if (texts.length === 1) return only
  const average = (endedMs - startedMs) / 1000 / (texts.length - 1)
  const secondsBetween = Math.round(Math.min(maxSecondsBetween, average) * 10) / 10
  return { customer: texts, ...(secondsBetween > 0 && { secondsBetween }) }
}
