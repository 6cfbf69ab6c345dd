import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { type CannedReply, useCannedReplies } from '../data/canned-replies.ts'
import { hasRole } from '../session/session.ts'
import { t } from '../text/index.ts'
import { EmptyState } from '../ui/page/EmptyState.tsx'
import { QueryBoundary } from '../ui/page/PageBody.tsx'
import { Table } from '../ui/page/Table.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './List.module.css'
import { ReplyPanel } from './ReplyPanel.tsx'

export function RepliesSection() {
  const workspaceId = useWorkspaceId()
  const texts = t.settings.replies
  const query = useCannedReplies(workspaceId)
  const [open, setOpen] = useState<CannedReply | 'new' | null>(null)
  const mayChange = hasRole(workspaceId, 'admin')
  const create = () => setOpen('new')
  return (
    <>
      {mayChange && (
        <div className={styles.bar}>
          <Button leftSection={<IconPlus size={16} />} onClick={create}>
            {texts.create}
          </Button>
        </div>
      )}
      <QueryBoundary query={query}>
        {(replies) =>
          replies.length === 0 ? (
            <EmptyState title={texts.empty} {...(mayChange && { action: { label: texts.create, run: create } })} />
          ) : (
            <Table
              label={t.settings.sections.replies.title}
              rows={replies}
              keyOf={({ id }) => id}
              {...(mayChange && { open: setOpen })}
              columns={[
                { key: 'shortcut', title: texts.shortcut, cell: ({ shortcut }) => `/${shortcut}` },
                { key: 'text', title: texts.text, cell: ({ text }) => <span className={styles.text}>{text}</span> },
              ]}
            />
          )
        }
      </QueryBoundary>
      {open !== null && <ReplyPanel reply={open === 'new' ? null : open} close={() => setOpen(null)} />}
    </>
  )
}
