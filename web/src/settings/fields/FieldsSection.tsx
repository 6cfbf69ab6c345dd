import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { changeLeadField, type LeadField, leadFieldsKey, useLeadFieldList } from '../../data/lead-fields.ts'
import { hasRole } from '../../session/session.ts'
import { blankField, FieldPanel } from '../../shared/fields/FieldPanel.tsx'
import { t } from '../../text/index.ts'
import { EmptyState } from '../../ui/page/EmptyState.tsx'
import { QueryBoundary } from '../../ui/page/PageBody.tsx'
import { useListChange } from '../../ui/use-list-change.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import listStyles from '../List.module.css'
import { FieldOrder } from './FieldOrder.tsx'
import styles from './FieldsSection.module.css'

/** Custom fields of the workspace. */
export function FieldsSection() {
  const workspaceId = useWorkspaceId()
  const query = useLeadFieldList(workspaceId)
  const [open, setOpen] = useState<LeadField | 'new' | null>(null)
  const mayChange = hasRole(workspaceId, 'admin')
  const create = () => setOpen('new')
  return (
    <>
      {mayChange && (
        <div className={listStyles.bar}>
          <Button leftSection={<IconPlus size={16} />} onClick={create}>
            {t.fields.create}
          </Button>
        </div>
      )}
      <QueryBoundary query={query}>
        {(fields) =>
          fields.length === 0 ? (
            <EmptyState
              title={t.fields.empty}
              help={t.fields.emptyHelp}
              {...(mayChange && { action: { label: t.fields.create, run: create } })}
            />
          ) : (
            <>
              <FieldOrder fields={fields} open={mayChange ? setOpen : null} />
              <Archived fields={fields.filter(({ isArchived }) => isArchived)} mayChange={mayChange} />
            </>
          )
        }
      </QueryBoundary>
      {open !== null && <FieldPanel field={open === 'new' ? blankField : open} close={() => setOpen(null)} />}
    </>
  )
}

function Archived({ fields, mayChange }: { fields: readonly LeadField[]; mayChange: boolean }) {
  const workspaceId = useWorkspaceId()
  const change = useListChange<LeadField>(leadFieldsKey(workspaceId))
  if (fields.length === 0) return null
  const restore = ({ id }: LeadField) =>
    change(
      (before) => before.map((one) => (one.id === id ? { ...one, isArchived: false } : one)),
      () => changeLeadField(workspaceId, id, { isArchived: false }),
    )
  return (
    <section className={styles.archived}>
      <h3>{t.fields.archived}</h3>
      <p className={styles.help}>{t.fields.archivedHelp}</p>
      <ul className={styles.fields} aria-label={t.fields.archived}>
        {fields.map((field) => (
          <li key={field.id} className={styles.field}>
            <div className={styles.name}>
              {field.label}
              <span>{t.fields.types[field.type]}</span>
            </div>
            {mayChange && (
              <Button
                variant="default"
                size="compact-sm"
                aria-label={t.fields.restore({ name: field.label })}
                onClick={() => void restore(field)}
              >
                {t.fields.restoreLabel}
              </Button>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}
