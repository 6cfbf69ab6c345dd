import { ActionIcon, Button, Checkbox, Popover, Stack } from '@mantine/core'
import { IconArrowLeft, IconArrowRight, IconColumns3 } from '@tabler/icons-react'
import { t } from '../text/index.ts'
import { columnIds, placed, toggled } from './column-choice.ts'
import styles from './LeadsPage.module.css'
import type { Columns } from './use-columns.ts'

/** Which columns there are, and where. */
export function ColumnsMenu({ columns: { choice, change, reset } }: { columns: Columns }) {
  const hidden = columnIds.filter((id) => !choice.shown.includes(id))
  return (
    <Popover position="bottom-start" trapFocus shadow="md" returnFocus>
      <Popover.Target>
        <Button variant="subtle" color="gray" size="compact-sm" leftSection={<IconColumns3 size={16} />}>
          {t.leads.columns}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={t.leads.columns}>
        <Stack gap={6} className={styles.choices}>
          {[...choice.shown.slice(1), ...hidden].map((id) => {
            const at = choice.shown.indexOf(id)
            const title = t.leads.fields[id]
            const [before, after] = [choice.shown[at - 1], choice.shown[at + 1]]
            return (
              <div key={id} className={styles.column}>
                <Checkbox
                  size="xs"
                  label={title}
                  checked={at !== -1}
                  disabled={id === 'name'}
                  onChange={() => change(toggled(choice, id))}
                />
                {at > 1 && before !== undefined && (
                  <ActionIcon
                    variant="subtle"
                    color="gray"
                    size="sm"
                    aria-label={t.leads.moveLeft(title)}
                    onClick={() => change(placed(choice, id, before))}
                  >
                    <IconArrowLeft size={14} />
                  </ActionIcon>
                )}
                {at !== -1 && after !== undefined && (
                  <ActionIcon
                    variant="subtle"
                    color="gray"
                    size="sm"
                    aria-label={t.leads.moveRight(title)}
                    onClick={() => change(placed(choice, id, after))}
                  >
                    <IconArrowRight size={14} />
                  </ActionIcon>
                )}
              </div>
            )
          })}
        </Stack>
        <Button mt="xs" fullWidth variant="default" size="xs" onClick={reset}>
          {t.leads.columnsReset}
        </Button>
      </Popover.Dropdown>
    </Popover>
  )
}
