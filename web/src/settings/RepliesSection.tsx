import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { type CannedReply, useCannedReplies } from '../data/canned-replies.ts'
import { mayIn } from '../session/session.ts'
import { t } from '../text/index.ts'
import { Empty } from '../ui/page/Empty.tsx'
import { Loaded } from '../ui/page/PageBody.tsx'
import { Table } from '../ui/page/Table.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './List.module.css'
import { ReplyPanel } from './ReplyPanel.tsx'

export function RepliesSection() {
  const workspaceId = useWorkspaceId()
  const texts = t.settings.replies
  const query = useCannedReplies(workspaceId)
  const [open, setOpen] = useState<CannedReply | 'new' | null>(null)
  const mayChange = mayIn(workspaceId, 'admin')
  const make = () => setOpen('new')
  return (
    <>
      {mayChange && (
        <div className={styles.bar}>
          <Button leftSection={<IconPlus size={16} />} onClick={make}>
            {texts.make}
          </Button>
        </div>
      )}
      <Loaded query={query}>
        {(replies) =>
          replies.length === 0 ? (
            <Empty title={texts.empty} {...(mayChange && { action: { label: texts.make, run: make } })} />
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
      </Loaded>
      {open !== null && <ReplyPanel reply={open === 'new' ? null : open} close={() => setOpen(null)} />}
    </>
  )
}
