import { useMemo } from 'react'
import { useLeadFields } from '../../data/lead-fields.ts'
import { useCurrency } from '../../data/workspace.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import type { FieldFormat } from './field-columns.ts'

export function useFieldFormat(): FieldFormat {
  const workspaceId = useWorkspaceId()
  const [fields, currency] = [useLeadFields(workspaceId), useCurrency(workspaceId)]
  return useMemo(() => ({ fields, currency }), [fields, currency])
}
