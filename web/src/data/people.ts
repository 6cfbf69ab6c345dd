import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { api, type ResponseOf } from '../api/client.ts'
import { t } from '../text/index.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/people'

/** Members, API keys and team tokens, including former ones. */
export type PeopleLists = ResponseOf<typeof path>

export interface People {
  /** Members that leads can be assigned to. */
  members: readonly { id: string; name: string }[]
  nameOf(id: string | null): string | null
}

export function usePeopleLists(workspaceId: string) {
  return useQuery({ queryKey: [workspaceId, 'people'], queryFn: () => api.GET(path, { workspaceId }) })
}

/** Looks up names by id. */
export function usePeople(workspaceId: string): People {
  const { data } = usePeopleLists(workspaceId)
  return useMemo(() => {
    const { members = [], keys = [], tokens = [] } = data ?? {}
    const names = new Map([...members, ...keys, ...tokens].map(({ id, name }) => [id, name]))
    return { members, nameOf: (id) => (id === null ? null : (names.get(id) ?? (data && t.common.unknown) ?? '')) }
  }, [data])
}
