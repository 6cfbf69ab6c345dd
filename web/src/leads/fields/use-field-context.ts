import { useMemo } from 'react'
import { useLeadFields } from '../../data/lead-fields.ts'
import { usePeople } from '../../data/people.ts'
import { useCurrency, useStatuses } from '../../data/workspace.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import type { FieldContext } from './columns.tsx'
import type { FieldFormat } from './field-columns.ts'

export function useFieldFormat(): FieldFormat {
  const workspaceId = useWorkspaceId()
  return { fields: useLeadFields(workspaceId), currency: useCurrency(workspaceId) }
}

/** Returns the same object until something in it changes, so that rows render only then. */
export function useFieldContext(): FieldContext {
  const workspaceId = useWorkspaceId()
  const [people, statuses] = [usePeople(workspaceId), useStatuses(workspaceId)]
  const { fields, currency } = useFieldFormat()
  return useMemo(() => ({ people, statuses, fields, currency }), [people, statuses, fields, currency])
}
