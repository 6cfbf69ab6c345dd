import { ActionIcon, Button, Checkbox, Group, Menu, Modal, Stack, TextInput } from '@mantine/core'
import { IconBookmark, IconTrash } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import {
  createFilter,
  deleteFilter,
  type SavedFilter,
  savedFiltersKey,
  useSavedFiltersOf,
} from '../../data/saved-filters.ts'
import { mayIn } from '../../session/session.ts'
import { t } from '../../text/index.ts'
import { complain, say, sayWithUndo } from '../../ui/overlay/notices.tsx'
import { useDraft } from '../../ui/use-draft.ts'
import { useIsPhone } from '../../ui/use-is-phone.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { type LeadAddress, readSavedQuery, savedQuery } from '../fields/address.ts'
import type { GoTo } from '../fields/use-address.ts'
import styles from '../LeadsPage.module.css'

interface SavedViewsProps {
  address: LeadAddress
  goTo: GoTo
}

/** Ways of looking at the leads, under a name. */
export function SavedViews({ address, goTo }: SavedViewsProps) {
  const workspaceId = useWorkspaceId()
  const views = useSavedFiltersOf('leads', workspaceId)
  const { save, remove } = useViewVerbs(workspaceId)
  const [isSaving, setSaving] = useState(false)
  const now = savedQuery(address)
  const current = views.find(({ query }) => query === now)
  const mayShare = mayIn(workspaceId, 'admin')
  const isPhone = useIsPhone()
  return (
    <>
      <Menu position="bottom-start" width={280}>
        <Menu.Target>
          {isPhone ? (
            <ActionIcon variant="subtle" color="gray" size={30} aria-label={current?.name ?? t.leads.views}>
              <IconBookmark size={18} />
            </ActionIcon>
          ) : (
            <Button
              variant="subtle"
              color="gray"
              size="compact-sm"
              leftSection={<IconBookmark size={16} />}
              className={styles.saved}
            >
              {current?.name ?? t.leads.views}
            </Button>
          )}
        </Menu.Target>
        <Menu.Dropdown>
          {views.length === 0 && <Menu.Label>{t.leads.viewsEmpty}</Menu.Label>}
          {views.map(({ id, name, query, shared }) => (
            <div key={id} className={styles.column} role="presentation">
              <Menu.Item onClick={() => goTo(() => readSavedQuery(query))}>{name}</Menu.Item>
              {(!shared || mayShare) && (
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  aria-label={t.leads.deleteView(name)}
                  onClick={() =>
                    remove.mutate(id, {
                      onError: complain,
                      onSuccess: () =>
                        sayWithUndo(t.leads.viewDeleted(name), () =>
                          save.mutate({ name, query, shared }, { onError: complain }),
                        ),
                    })
                  }
                >
                  <IconTrash size={14} />
                </ActionIcon>
              )}
            </div>
          ))}
          <Menu.Divider />
          <Menu.Item onClick={() => setSaving(true)}>{t.leads.saveView}</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {isSaving && <SaveView mayShare={mayShare} query={now} save={save} close={() => setSaving(false)} />}
    </>
  )
}

/** Saves and deletes views; lists are read again after it. */
function useViewVerbs(workspaceId: string) {
  const queries = useQueryClient()
  const onSuccess = () => queries.invalidateQueries({ queryKey: savedFiltersKey(workspaceId) })
  const save = useMutation({
    mutationFn: (view: Pick<SavedFilter, 'name' | 'query' | 'shared'>) =>
      createFilter(workspaceId, { page: 'leads', ...view }),
    onSuccess,
  })
  const remove = useMutation({ mutationFn: (filterId: string) => deleteFilter(workspaceId, filterId), onSuccess })
  return { save, remove }
}

interface SaveViewProps {
  mayShare: boolean
  query: string
  save: ReturnType<typeof useViewVerbs>['save']
  close(): void
}

function SaveView({ mayShare, query, save, close }: SaveViewProps) {
  const draft = useDraft({ name: '', shared: false })
  const { name, shared } = draft.value
  const submit = () =>
    save.mutate(
      { name, query, shared },
      {
        onSuccess: () => {
          say(t.leads.viewSaved(name))
          close()
        },
        onError: (error) => draft.refuse(error) || complain(error),
      },
    )
  return (
    <Modal opened onClose={close} title={t.leads.saveView} closeButtonProps={{ 'aria-label': t.common.close }}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        <Stack>
          <TextInput
            label={t.leads.viewName}
            value={name}
            onChange={(event) => draft.set({ name: event.currentTarget.value })}
            error={draft.errorOf('name')}
            data-autofocus
            maxLength={80}
          />
          {mayShare && (
            <Checkbox
              label={t.leads.viewShared}
              checked={shared}
              onChange={(event) => draft.set({ shared: event.currentTarget.checked })}
            />
          )}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={close}>
              {t.common.cancel}
            </Button>
            <Button type="submit" loading={save.isPending} disabled={name.trim() === ''}>
              {t.common.save}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
