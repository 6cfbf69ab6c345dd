import { Button } from '@mantine/core'
import { changeLeadField, type LeadField, leadFieldsKey, useLeadFieldList } from '../../data/lead-fields.ts'
import { hasRole } from '../../session/session.ts'
import { blankField, FieldPanel } from '../../shared/fields/FieldPanel.tsx'
import { t } from '../../text/index.ts'
import { useListChange } from '../../ui/use-list-change.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { ItemList } from '../parts/ItemList.tsx'
import { FieldOrder } from './FieldOrder.tsx'
import styles from './FieldsSection.module.css'

/** Custom fields of the workspace. */
export function FieldsSection() {
  const workspaceId = useWorkspaceId()
  const query = useLeadFieldList(workspaceId)
  const mayChange = hasRole(workspaceId, 'admin')
  return (
    <ItemList
      query={query}
      create={mayChange ? t.fields.create : null}
      empty={t.fields.empty}
      emptyHelp={t.fields.emptyHelp}
      panel={(field, close) => <FieldPanel field={field ?? blankField} close={close} />}
    >
      {(fields, open) => (
        <>
          <FieldOrder fields={fields} open={mayChange ? open : null} />
          <Archived fields={fields.filter(({ isArchived }) => isArchived)} mayChange={mayChange} />
        </>
      )}
    </ItemList>
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
