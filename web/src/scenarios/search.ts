/** Query parameters of the page of scenarios. */
export interface ScenarioSearch {
  /** Conversation of which a scenario is made. */
  from?: string
}

/** Drops invalid parameters. */
export function readScenarioSearch(raw: Record<string, unknown>): ScenarioSearch {
  return typeof raw.from === 'string' && /^[0-9a-f-]{36}$/.test(raw.from) ? { from: raw.from } : {}
}

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** Draft of instructions that runs are started with. */
    instructions?: string
  }
}
