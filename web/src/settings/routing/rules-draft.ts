import type { RoutingRule } from '../../data/team/routing.ts'

/** A rule as it is chosen: `same` as that of all connections, or by the value of a select. */
export interface RuleChoice {
  /** Null: all connections without a choice of their own. */
  connectionId: string | null
  /** `same`, `default`, `none`, or the id of a key. */
  agent: string
  /** Empty: all people. */
  team: string
}

/** Returns the choices of the workspace and of each connection. */
export function choicesOf(rules: readonly RoutingRule[], connectionIds: readonly string[]): RuleChoice[] {
  return [null, ...connectionIds].map((connectionId) => {
    const rule = rules.find((one) => one.connectionId === connectionId)
    const agent = rule === undefined ? (connectionId === null ? 'default' : 'same') : (rule.keyId ?? rule.agent)
    return { connectionId, agent, team: rule?.teamId ?? '' }
  })
}

/** Returns the rules to store: none where nothing differs from the default. */
export function rulesOf(choices: readonly RuleChoice[]): RoutingRule[] {
  return choices.flatMap(({ connectionId, agent, team }) => {
    const isDefault = connectionId === null && agent === 'default' && team === ''
    if (agent === 'same' || isDefault) return []
    const isNamed = agent === 'default' || agent === 'none'
    return [
      {
        ...{ connectionId, teamId: team === '' ? null : team },
        ...(isNamed ? { agent, keyId: null } : { agent: 'key' as const, keyId: agent }),
      },
    ]
  })
}
