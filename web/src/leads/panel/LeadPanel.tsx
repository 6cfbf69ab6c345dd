import { ActionIcon, Skeleton } from '@mantine/core'
import { IconArrowsDiagonal, IconX } from '@tabler/icons-react'
import type { Lead } from '../../data/leads.ts'
import { useLeadOrMergeTarget } from '../../data/merges.ts'
import { EraseButton } from '../../shared/EraseButton.tsx'
import { t } from '../../text/index.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import { ErrorState } from '../../ui/page/ErrorState.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import type { LeadActions } from '../fields/change.ts'
import type { FieldContext } from '../fields/columns.tsx'
import { nameOf } from '../fields/lead.ts'
import { followHere } from '../message/InboxLink.tsx'
import { Timeline } from '../timeline/Timeline.tsx'
import { LeadButtons, LeadDetails } from './LeadDetails.tsx'
import styles from './LeadPanel.module.css'

interface LeadPanelProps {
  id: string
  /** The lead as loaded by a list, shown at once. */
  known: Lead | undefined
  context: FieldContext
  actions: LeadActions
  open(lead: Lead): void
  close(): void
}

/** A lead beside the list. Does not take the focus, so that J and K continue in the list. */
export default function LeadPanel({ id, known, context, actions, open, close }: LeadPanelProps) {
  const workspaceId = useWorkspaceId()
  const { lead, merged, error, retry } = useLeadOrMergeTarget(workspaceId, id, known)
  const name = lead === undefined ? '' : nameOf(lead)
  return (
    <aside className={styles.panel} aria-label={t.leads.panel.label({ name })}>
      <header className={styles.header}>
        {lead === undefined ? <span /> : <Avatar name={name} size={28} />}
        <h2 className={styles.title} dir="auto" title={name}>
          {name}
        </h2>
        <ActionIcon variant="subtle" color="gray" onClick={close} aria-label={t.common.close}>
          <IconX size={18} />
        </ActionIcon>
        {lead !== undefined && (
          <div className={styles.actions}>
            <LeadButtons {...{ lead, actions, open }} people={context.people} leave={close}>
              {/* A link, so that it can open in a new tab. */}
              <ActionIcon
                component="a"
                href={`/w/${workspaceId}/leads/${lead.id}`}
                variant="subtle"
                color="gray"
                aria-label={t.leadPage.openPage}
                title={t.leadPage.openPage}
                onClick={followHere}
              >
                <IconArrowsDiagonal size={16} />
              </ActionIcon>
            </LeadButtons>
          </div>
        )}
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be scrollable by keyboard */}
      <div className={styles.content} tabIndex={0}>
        {lead === undefined && error !== null && <ErrorState error={error} retry={retry} />}
        {lead === undefined && error === null && <Skeleton height={320} />}
        {lead !== undefined && (
          <>
            <LeadDetails {...{ lead, merged, context, actions, open }} />
            <Timeline lead={lead} people={context.people} />
            <EraseButton name={{ leadId: lead.id }} onDone={close} />
          </>
        )}
      </div>
    </aside>
  )
}
