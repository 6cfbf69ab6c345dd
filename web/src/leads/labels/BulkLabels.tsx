import { Button } from '@mantine/core'
import { useState } from 'react'
import type { BulkWish } from '../../data/bulk-changes.ts'
import { t } from '../../text/index.ts'
import { Dropped, dropButton, useDrop } from '../../ui/overlay/drop.tsx'
import { later } from '../../ui/overlay/later.ts'

const LabelPicker = later(() => import('../../shared/LabelPicker.tsx'))

interface BulkLabelsProps {
  begin(wish: BulkWish): void
}

const ways = ['addLabelIds', 'removeLabelIds'] as const

/** Gives all that are selected a label, or takes one off. */
export function BulkLabels({ begin }: BulkLabelsProps) {
  return ways.map((way) => <OneWay key={way} way={way} begin={begin} />)
}

function OneWay({ way, begin }: BulkLabelsProps & { way: (typeof ways)[number] }) {
  const [isOpen, setOpen] = useState(false)
  const drop = useDrop(isOpen, setOpen)
  return (
    <>
      <Button variant="default" size="compact-sm" {...dropButton(drop, 'dialog')}>
        {way === 'addLabelIds' ? t.views.labels.add : t.views.labels.remove}
      </Button>
      <Dropped drop={drop}>
        <LabelPicker
          drop={drop}
          carries={() => false}
          set={(id) => {
            setOpen(false)
            begin({ labels: { [way]: [id] } })
          }}
        />
      </Dropped>
    </>
  )
}
