import { Menu } from '@mantine/core'
import { patchConversation } from '../../data/inbox/actions.ts'
import { useInbox } from '../../data/inbox/queries.ts'
import type { Conversation } from '../../data/inbox/types.ts'
import { useLabelsById } from '../../data/labels.ts'
import { t } from '../../text/index.ts'
import type { Drop } from '../../ui/overlay/drop.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { labelColor } from '../parts/label-color.ts'
import styles from '../ThreadPane.module.css'
import { ActionItems } from './ActionItems.tsx'

interface LabelMenuProps {
  drop: Drop
  conversation: Conversation
}

export default function LabelMenu({ drop, conversation: { id, labelIds } }: LabelMenuProps) {
  const workspaceId = useWorkspaceId()
  const inbox = useInbox()
  const labels = useLabelsById(workspaceId)
  const items = [...labels.values()].map((label) => {
    const has = labelIds.includes(label.id)
    const next = has ? labelIds.filter((one) => one !== label.id) : [...labelIds, label.id]
    return (
      <Menu.CheckboxItem
        key={label.id}
        checked={has}
        rightSection={<i className={styles.label} style={{ background: labelColor(label.color) }} />}
        onChange={() => void patchConversation(inbox, id, { labelIds: next })}
      >
        {label.name}
      </Menu.CheckboxItem>
    )
  })
  return (
    <ActionItems drop={drop} label={t.inbox.actions.label}>
      {items.length === 0 ? <Menu.Item disabled>{t.inbox.actions.noLabels}</Menu.Item> : items}
    </ActionItems>
  )
}
