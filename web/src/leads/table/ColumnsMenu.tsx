import { ActionIcon, Button, Checkbox, Stack } from '@mantine/core'
import { IconArrowLeft, IconArrowRight } from '@tabler/icons-react'
import { useLeadFields } from '../../data/lead-fields.ts'
import type { Column } from '../../shared/lead-view/conditions.ts'
import { t } from '../../text/index.ts'
import { DropdownPanel } from '../../ui/overlay/DropdownPanel.tsx'
import type { Dropdown } from '../../ui/overlay/dropdown.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { type ColumnChoice, columnIds, placeColumn, toggleColumn } from '../fields/column-choice.ts'
import { columnTitle, fieldColumns } from '../fields/field-columns.ts'
import styles from '../LeadsPage.module.css'
import type { Columns } from './use-columns.ts'

/** Shows, hides and reorders columns. */
export default function ColumnsMenu({ dropdown, columns }: { dropdown: Dropdown; columns: Columns }) {
  const { choice, change, reset } = columns
  const fields = useLeadFields(useWorkspaceId())
  const hidden = [...columnIds, ...fieldColumns(fields)].filter((id) => !choice.shown.includes(id))
  return (
    <DropdownPanel dropdown={dropdown} label={t.leads.columns} position="bottom-start">
      <Stack gap={6} className={styles.choices}>
        {[...choice.shown.slice(1), ...hidden].map((id) => (
          <div key={id} className={styles.column}>
            <Checkbox
              size="xs"
              label={columnTitle(id, fields)}
              checked={choice.shown.includes(id)}
              onChange={() => change(toggleColumn(choice, id))}
            />
            {choice.shown.includes(id) &&
              ([-1, 1] as const).map((by) => (
                <MoveButton key={by} {...{ id, by, choice, change }} title={columnTitle(id, fields)} />
              ))}
          </div>
        ))}
      </Stack>
      <Button mt="xs" fullWidth variant="default" size="xs" onClick={reset}>
        {t.leads.columnsReset}
      </Button>
    </DropdownPanel>
  )
}

interface MoveButtonProps {
  id: Column
  title: string
  by: -1 | 1
  choice: ColumnChoice
  change(next: ColumnChoice): void
}

function MoveButton({ id, title, by, choice, change }: MoveButtonProps) {
  const beside = choice.shown[choice.shown.indexOf(id) + by]
  const mayMove = beside !== undefined && beside !== 'name'
  const Icon = by === -1 ? IconArrowLeft : IconArrowRight
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size="sm"
      // Not `disabled`: that would drop the focus after a click.
      aria-disabled={!mayMove}
      aria-label={by === -1 ? t.leads.moveLeft({ column: title }) : t.leads.moveRight({ column: title })}
      onClick={({ currentTarget: button }) => {
        if (!mayMove) return
        change(placeColumn(choice, id, beside))
        requestAnimationFrame(() => button.focus())
      }}
    >
      <Icon size={14} />
    </ActionIcon>
  )
}
