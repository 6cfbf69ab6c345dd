import { useQueries } from '@tanstack/react-query'

/** Result in the command palette: a conversation, a lead. */
export interface PaletteResult {
  id: string
  group: string
  /** What it is, in one word; shown if another group contains the same person. */
  kind: string
  label: string
  hint?: string
  run(): void
}

/** Search of a page for the command palette; pages register theirs in the list below. */
export type PaletteSource = (workspaceId: string, term: string) => Promise<PaletteResult[]>

const minTerm = 2
const sources: PaletteSource[] = []

export const paletteSearch = {
  add: (source: PaletteSource): void => void (sources.includes(source) || sources.push(source)),
  use: (workspaceId: string, term: string): { found: PaletteResult[]; isSearching: boolean; hasFailed: boolean } => {
    const answers = useQueries({
      queries: sources.map((source, n) => ({
        queryKey: [workspaceId, 'palette', n, term],
        queryFn: () => source(workspaceId, term),
        enabled: term.length >= minTerm,
        staleTime: 10_000,
      })),
    })
    return {
      found: answers.flatMap(({ data }) => data ?? []),
      isSearching: answers.some(({ isFetching }) => isFetching),
      hasFailed: answers.some(({ isError }) => isError),
    }
  },
}
