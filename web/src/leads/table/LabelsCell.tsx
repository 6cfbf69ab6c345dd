import { type KeyboardEvent, useRef, useState } from 'react'
import { useSetLabels } from '../../data/change-lead.ts'
import type { Lead } from '../../data/leads.ts'
import LabelPicker from '../../shared/LabelPicker.tsx'
import { t } from '../../text/index.ts'
import { DropdownContent, dropdownButtonProps, useDropdown } from '../../ui/overlay/dropdown.tsx'
import { showError, showUndoToast } from '../../ui/overlay/toasts.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { nameOf } from '../fields/lead.ts'
import { LabelChips } from '../labels/LabelChips.tsx'
import styles from '../labels/labels.module.css'

interface LabelsCellProps {
  lead: Lead
  onDone(lead: Lead, typed: null, then: 'stay' | 'next'): void
}

/** Edits labels in a cell: leaving it saves, Tab saves and moves on, Escape discards. */
export default function LabelsCell({ lead, onDone }: LabelsCellProps) {
  const save = useSave(lead)
  const [chosen, setChosen] = useState(() => lead.labelIds ?? [])
  const end = useRef({ isOver: false, isGivenUp: false, goesOn: false })
  const close = () => {
    if (end.current.isOver) return
    end.current.isOver = true
    if (!end.current.isGivenUp) save(chosen)
    onDone(lead, null, end.current.goesOn ? 'next' : 'stay')
  }
  const dropdown = useDropdown(true, (isOpen) => isOpen || close())
  const set = (id: string, isOn: boolean) => {
    const next = [...chosen.filter((one) => one !== id), ...(isOn ? [id] : [])]
    // A label that was just created may arrive only now.
    if (end.current.isOver) save(next)
    else setChosen(next)
  }
  // Captured before the dropdown handles it.
  const onKeyDownCapture = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    if (event.key === 'Escape') end.current.isGivenUp = true
    if (event.key !== 'Tab') return
    event.preventDefault()
    event.stopPropagation()
    end.current.goesOn = !event.shiftKey
    close()
  }
  return (
    <span className={styles.cell} onKeyDownCapture={onKeyDownCapture}>
      <button
        type="button"
        className={styles.edited}
        tabIndex={-1}
        title={t.leads.edit({ field: t.views.labels.title, name: nameOf(lead) })}
        {...dropdownButtonProps(dropdown, 'dialog')}
      >
        <LabelChips ids={chosen} />
      </button>
      <DropdownContent dropdown={dropdown}>
        <LabelPicker dropdown={dropdown} hasLabel={(id) => chosen.includes(id)} set={set} />
      </DropdownContent>
    </span>
  )
}

/** Saves the labels optimistically, with undo. */
function useSave(lead: Lead): (labelIds: readonly string[]) => void {
  const setLabels = useSetLabels(useWorkspaceId())
  return (labelIds) => {
    const before = lead.labelIds ?? []
    if (labelIds.length === before.length && before.every((id) => labelIds.includes(id))) return
    const undo = () => void setLabels({ ...lead, labelIds: [...labelIds] }, before).catch(showError)
    setLabels(lead, labelIds).then(
      () => showUndoToast(t.views.labels.changed({ name: nameOf(lead) }), undo),
      (error: unknown) => showError(error),
    )
  }
}
