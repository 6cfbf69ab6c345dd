import { Button } from '@mantine/core'
import { useState } from 'react'
import type { BulkChangeInput } from '../../data/bulk-changes.ts'
import { t } from '../../text/index.ts'
import { DropdownContent, dropdownButtonProps, useDropdown } from '../../ui/overlay/dropdown.tsx'
import { prefetchedComponent } from '../../ui/overlay/lazy.ts'

const LabelPicker = prefetchedComponent(() => import('../../shared/LabelPicker.tsx'))

interface BulkLabelsProps {
  start(input: BulkChangeInput): void
}

const operations = ['addLabelIds', 'removeLabelIds'] as const

/** Adds a label to the selected leads, or removes one. */
export function BulkLabels({ start }: BulkLabelsProps) {
  return operations.map((operation) => <LabelOperation key={operation} operation={operation} start={start} />)
}

function LabelOperation({ operation, start }: BulkLabelsProps & { operation: (typeof operations)[number] }) {
  const [isOpen, setOpen] = useState(false)
  const dropdown = useDropdown(isOpen, setOpen)
  return (
    <>
      <Button variant="default" size="compact-sm" {...dropdownButtonProps(dropdown, 'dialog')}>
        {operation === 'addLabelIds' ? t.views.labels.add : t.views.labels.remove}
      </Button>
      <DropdownContent dropdown={dropdown}>
        <LabelPicker
          dropdown={dropdown}
          hasLabel={() => false}
          set={(id) => {
            setOpen(false)
            start({ labels: { [operation]: [id] } })
          }}
        />
      </DropdownContent>
    </>
  )
}
