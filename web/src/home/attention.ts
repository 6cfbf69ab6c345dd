import type { Attention } from '../data/stats.ts'

export type AttentionCode = Attention['code']

interface Kind {
  /** `hint` for suggestions, which are not problems. */
  tone: 'bad' | 'attention' | 'hint'
  /** Path within the workspace where it can be fixed. */
  place(one: Pick<Attention, 'id'>): string
  search?: Record<string, unknown>
}

const connection = ({ id }: Pick<Attention, 'id'>) => (id === null ? 'connections' : `connections/${id}`)
const keys = () => 'keys'
const webhook = ({ id }: Pick<Attention, 'id'>) => (id === null ? 'webhooks' : `webhooks/${id}`)
const workspace = () => 'settings/workspace'

const kinds: Record<AttentionCode, Kind> = {
  agents_stopped: { tone: 'bad', place: () => 'settings/agents' },
  connection_unavailable: { tone: 'bad', place: connection },
  quota_reached: { tone: 'bad', place: workspace },
  customers_waiting: {
    tone: 'attention',
    place: () => 'inbox',
    search: { view: 'all', unanswered: true, sort: 'waiting' },
  },
  key_paused: { tone: 'attention', place: keys },
  webhook_disabled: { tone: 'bad', place: webhook },
  webhook_failing: { tone: 'attention', place: webhook },
  acknowledgement_missing: { tone: 'attention', place: connection },
  key_expired: { tone: 'attention', place: keys },
  acknowledgement_ending: { tone: 'attention', place: connection },
  key_expiring: { tone: 'attention', place: keys },
  quota_near: { tone: 'attention', place: workspace },
  connection_not_set_up: { tone: 'hint', place: connection },
}

export const kindOf = (code: AttentionCode): Kind => kinds[code]
