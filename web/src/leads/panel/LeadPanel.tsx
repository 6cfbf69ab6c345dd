import { ActionIcon, Skeleton } from '@mantine/core'
import { IconArrowsDiagonal, IconTrash, IconX } from '@tabler/icons-react'
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
import { LeadLabels } from '../labels/LeadLabels.tsx'
import { AlsoFoundBy } from '../merge/AlsoFoundBy.tsx'
import { MergeButton } from '../merge/MergeButton.tsx'
import { MergedInto } from '../merge/MergedInto.tsx'
import { goTo } from '../message/InboxLink.tsx'
import { MessageButton } from '../message/MessageButton.tsx'
import { Timeline } from '../timeline/Timeline.tsx'
import { CustomFields } from './CustomFields.tsx'
import { Duplicates } from './Duplicates.tsx'
import { LeadConsent } from './LeadConsent.tsx'
import { LeadConversations } from './LeadConversations.tsx'
import { LeadFields } from './LeadFields.tsx'
import { LeadOrigin } from './LeadOrigin.tsx'
import styles from './LeadPanel.module.css'
import { LeadTasks, SequencesOfLead } from './LeadTasks.tsx'

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
export function LeadPanel({ id: requested, known, context, actions, open, close }: LeadPanelProps) {
  const workspaceId = useWorkspaceId()
  const { lead, merged, error, retry } = useLeadOrMergeTarget(workspaceId, requested, known)
  const { id = requested } = lead ?? {}
  const name = lead === undefined ? '' : nameOf(lead)
  const remove = () => {
    close()
    void actions.remove([{ id, name }])
  }
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
            <MessageButton lead={lead} />
            <PageLink href={`/w/${workspaceId}/leads/${id}`} />
            <MergeButton lead={{ id, name }} otherId={null} people={context.people} onMerged={open} />
            <ActionIcon variant="subtle" color="gray" onClick={remove} aria-label={t.common.delete}>
              <IconTrash size={16} />
            </ActionIcon>
          </div>
        )}
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be scrollable by keyboard */}
      <div className={styles.content} tabIndex={0}>
        {lead === undefined && error !== null && <ErrorState error={error} retry={retry} />}
        {lead === undefined && error === null && <Skeleton height={320} />}
        {lead !== undefined && (
          <>
            <MergedInto merged={merged} />
            <Duplicates lead={lead} people={context.people} open={open} />
            <LeadLabels lead={lead} />
            <LeadFields lead={lead} context={context} actions={actions} />
            <CustomFields lead={lead} currency={context.currency} actions={actions} />
            <LeadConsent lead={lead} />
            <LeadOrigin leadId={id} />
            <AlsoFoundBy leadId={id} />
            <LeadConversations lead={lead} people={context.people} />
            <LeadTasks leadId={lead.id} />
            <SequencesOfLead leadId={lead.id} />
            <Timeline lead={lead} people={context.people} />
            <EraseButton name={{ leadId: id }} onDone={close} />
          </>
        )}
      </div>
    </aside>
  )
}

// A link, so that it can open in a new tab.
function PageLink({ href }: { href: string }) {
  return (
    <ActionIcon
      component="a"
      href={href}
      variant="subtle"
      color="gray"
      aria-label={t.leadPage.openPage}
      title={t.leadPage.openPage}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return
        event.preventDefault()
        goTo(event.currentTarget.href)
      }}
    >
      <IconArrowsDiagonal size={16} />
    </ActionIcon>
  )
}
