import { useMemo } from 'react'
import { usePeopleLists } from '../../data/people.ts'
import type { Version } from '../../data/team/instructions.ts'
import { t } from '../../text/index.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { actorText, namesOf } from '../audit/audit-texts.ts'

const nobody = { members: [], keys: [], tokens: [] }

/** Names who wrote a version, also if they have left. */
export function useAuthorName(): (actor: Version['actor']) => string {
  const { data } = usePeopleLists(useWorkspaceId())
  const names = useMemo(() => namesOf(data ?? nobody, []), [data])
  return (actor) => (actor === null ? t.instructions.nobodyKnown : actorText({ actor }, names))
}
