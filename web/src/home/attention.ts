import type { Attention } from '../data/stats.ts'

export type AttentionCode = Attention['code']

interface Kind {
  /** `hint` for suggestions, which are not problems. */
  tone: 'bad' | 'attention' | 'hint'
  /** Path within the workspace where it can be fixed. */
  path(one: Pick<Attention, 'id'>): string
  search?: Record<string, unknown>
}

const connection = ({ id }: Pick<Attention, 'id'>) => (id === null ? 'connections' : `connections/${id}`)
const keys = () => 'keys'
const webhook = ({ id }: Pick<Attention, 'id'>) => (id === null ? 'webhooks' : `webhooks/${id}`)
const workspace = () => 'settings/workspace'

const kinds: Record<AttentionCode, Kind> = {
  agents_stopped: { tone: 'bad', path: () => 'settings/agents' },
  connection_unavailable: { tone: 'bad', path: connection },
  quota_reached: { tone: 'bad', path: workspace },
  customers_waiting: {
    tone: 'attention',
    path: () => 'inbox',
    search: { view: 'all', unanswered: true, sort: 'waiting' },
  },
  key_paused: { tone: 'attention', path: keys },
  webhook_disabled: { tone: 'bad', path: webhook },
  webhook_failing: { tone: 'attention', path: webhook },
  acknowledgement_missing: { tone: 'attention', path: connection },
  key_expired: { tone: 'attention', path: keys },
  acknowledgement_ending: { tone: 'attention', path: connection },
  key_expiring: { tone: 'attention', path: keys },
  quota_near: { tone: 'attention', path: workspace },
  connection_not_set_up: { tone: 'hint', path: connection },
}

export const kindOf = (code: AttentionCode): Kind => kinds[code]
