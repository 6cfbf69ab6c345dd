import { VisuallyHidden } from '@mantine/core'
import { IconGripVertical } from '@tabler/icons-react'
import { type DragEvent, useState } from 'react'
import { type LeadField, leadFieldsKey, orderLeadFields } from '../../data/lead-fields.ts'
import { t } from '../../text/index.ts'
import { useListChange } from '../../ui/use-list-change.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { MoveButtons } from '../parts/RowButton.tsx'
import styles from './FieldsSection.module.css'

interface FieldOrderProps {
  /** All fields, including archived ones, which stay behind the others. */
  fields: readonly LeadField[]
  /** Null without permission to edit. */
  open: ((field: LeadField) => void) | null
}

/** Active fields in order: drag with a pointer, or move with buttons or Alt and an arrow key. */
export function FieldOrder({ fields, open }: FieldOrderProps) {
  const { inUse, move, announced } = useOrder(fields)
  const [dragged, setDragged] = useState<string | null>(null)
  if (inUse.length === 0) return null
  return (
    <>
      {open !== null && inUse.length > 1 && <p className={styles.help}>{t.fields.order}</p>}
      <ol className={styles.fields} aria-label={t.settings.sections.fields.title}>
        {inUse.map((field, n) => (
          <li
            key={field.id}
            className={styles.field}
            data-dragged={dragged === field.id || undefined}
            onDragOver={(event) => dragged !== null && event.preventDefault()}
            onDrop={(event) => {
              event.preventDefault()
              if (dragged !== null) move(dragged, n)
            }}
          >
            {open !== null && (
              <Grip
                start={(event) => {
                  event.dataTransfer.effectAllowed = 'move'
                  event.dataTransfer.setData('text/plain', field.label)
                  setDragged(field.id)
                }}
                end={() => setDragged(null)}
              />
            )}
            {open === null ? (
              <div className={styles.name}>
                <FieldSummary field={field} />
              </div>
            ) : (
              <button
                type="button"
                className={styles.name}
                onClick={() => open(field)}
                onKeyDown={(event) => {
                  if (!event.altKey || !['ArrowUp', 'ArrowDown'].includes(event.key)) return
                  event.preventDefault()
                  move(field.id, n + (event.key === 'ArrowUp' ? -1 : 1))
                }}
              >
                <FieldSummary field={field} />
              </button>
            )}
            {open !== null && (
              <MoveButtons
                up={t.fields.up({ name: field.label })}
                down={t.fields.down({ name: field.label })}
                at={n}
                last={inUse.length - 1}
                move={(by) => move(field.id, n + by)}
              />
            )}
          </li>
        ))}
      </ol>
      <VisuallyHidden role="status">{announced}</VisuallyHidden>
    </>
  )
}

type Move = (id: string, to: number) => void

function useOrder(fields: readonly LeadField[]) {
  const workspaceId = useWorkspaceId()
  const change = useListChange<LeadField>(leadFieldsKey(workspaceId))
  const [announced, setAnnounced] = useState('')
  const inUse = fields.filter(({ isArchived }) => !isArchived)
  const move: Move = (id, to) => {
    const field = inUse.find((one) => one.id === id)
    if (field === undefined || to < 0 || to >= inUse.length || inUse[to] === field) return
    const rest = inUse.filter((one) => one !== field)
    const next = [...rest.toSpliced(to, 0, field), ...fields.filter(({ isArchived }) => isArchived)]
    void change(
      () => next,
      () =>
        orderLeadFields(
          workspaceId,
          next.map((one) => one.id),
        ),
    )
    setAnnounced(t.fields.moved({ name: field.label, place: to + 1 }))
  }
  return { inUse, move, announced }
}

function Grip({ start, end }: { start(event: DragEvent): void; end(): void }) {
  return (
    <span className={styles.grip} draggable aria-hidden="true" onDragStart={start} onDragEnd={end}>
      <IconGripVertical size={16} />
    </span>
  )
}

function FieldSummary({ field }: { field: LeadField }) {
  const places = field.shownIn.map((place) => t.fields.places[place])
  return (
    <>
      <strong>{field.label}</strong>
      <span>{[t.fields.types[field.type], ...(field.required ? [t.fields.required] : []), ...places].join(' · ')}</span>
    </>
  )
}
