import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { api, body } from '../api/client.ts'
import { t } from '../text/index.ts'

export interface People {
  /** Whom a lead can be given to. */
  members: readonly { id: string; name: string }[]
  nameOf(id: string | null): string | null
}

const path = '/api/team/v1/workspaces/{workspaceId}'

/** The names behind ids. */
export function usePeople(workspaceId: string): People {
  const { data } = useQuery({
    queryKey: [workspaceId, 'people'],
    queryFn: () => body(api.GET(`${path}/people`, { params: { path: { workspaceId } } })),
  })
  return useMemo(() => {
    const { members = [], keys = [], tokens = [] } = data ?? {}
    const names = new Map([...members, ...keys, ...tokens].map(({ id, name }) => [id, name]))
    return { members, nameOf: (id) => (id === null ? null : (names.get(id) ?? (data && t.common.unknown) ?? '')) }
  }, [data])
}

/** The statuses of the workspace in its order. */
export function useStatuses(workspaceId: string): readonly string[] {
  const { data } = useQuery({
    queryKey: [workspaceId, 'workspace'],
    queryFn: async () => (await body(api.GET(path, { params: { path: { workspaceId } } }))).workspace,
  })
  return data?.leadStatuses ?? none
}

const none: readonly string[] = []
