import { Menu, useMantineColorScheme } from '@mantine/core'
import {
  IconCheck,
  IconKeyboard,
  IconLogout,
  IconSelector,
  IconUser,
  IconUserCheck,
  IconUserPause,
} from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { isAway, setAway, useMemberList } from '../data/team/members.ts'
import { signOut, useSession } from '../session/session.ts'
import { chooseLanguage, language, t } from '../text/index.ts'
import { type Language, languages } from '../text/languages.ts'
import { DropdownMenu } from '../ui/overlay/DropdownMenu.tsx'
import type { Dropdown } from '../ui/overlay/dropdown.tsx'
import { showError, showToast } from '../ui/overlay/toasts.tsx'
import { useRailBadge } from '../ui/rail-badges.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import type { NavItem } from './nav-items.ts'
import styles from './Rail.module.css'

interface UserMenuItemsProps {
  dropdown: Dropdown
  /** Pages without an entry of their own in the rail. */
  setup: readonly NavItem[]
  openKeys(): void
}

/** Menu of the user: workspaces, profile, appearance, language and sign-out. */
export default function UserMenuItems({ dropdown, setup, openKeys }: UserMenuItemsProps) {
  const workspaceId = useWorkspaceId()
  const { user, workspaces } = useSession()
  const { name = '', email = '' } = user ?? {}
  const navigate = useNavigate()
  return (
    <DropdownMenu
      dropdown={dropdown}
      position={setup.length > 0 ? 'top-end' : 'right-end'}
      width={setup.length > 0 ? 280 : 240}
    >
      <div className={styles.who}>
        <strong>{name}</strong>
        <span>{email}</span>
      </div>
      {workspaces.length > 1 && (
        <>
          <Menu.Divider />
          <Menu.Label>{t.common.switchWorkspace}</Menu.Label>
          {workspaces.map((one) => (
            <Menu.Item
              key={one.id}
              leftSection={<IconSelector size={16} />}
              rightSection={one.id === workspaceId && <IconCheck size={16} />}
              onClick={() => void navigate({ to: '/w/$workspaceId/home', params: { workspaceId: one.id } })}
            >
              {one.name}
            </Menu.Item>
          ))}
        </>
      )}
      <Menu.Divider />
      {setup.map((item) => (
        <SetupItem key={item.path} item={item} />
      ))}
      {setup.length > 0 && <Menu.Divider />}
      <Menu.Item
        leftSection={<IconUser size={16} />}
        onClick={() => void navigate({ to: '/w/$workspaceId/profile', params: { workspaceId } })}
      >
        {t.common.pages.profile}
      </Menu.Item>
      <AwayItem />
      <Menu.Divider />
      <AppearanceItems />
      <Menu.Divider />
      <Menu.Label>{t.common.language}</Menu.Label>
      {(Object.keys(languages) as Language[]).map((one) => (
        <Menu.Item
          key={one}
          rightSection={one === language && <IconCheck size={16} />}
          onClick={() => chooseLanguage(one)}
        >
          {languages[one]}
        </Menu.Item>
      ))}
      <Menu.Divider />
      <Menu.Item leftSection={<IconKeyboard size={16} />} rightSection={<kbd>?</kbd>} onClick={openKeys}>
        {t.common.keys.open}
      </Menu.Item>
      <Menu.Item leftSection={<IconLogout size={16} />} onClick={() => void signOut().catch(showError)}>
        {t.common.signOut}
      </Menu.Item>
    </DropdownMenu>
  )
}

/** Switches the away status: who is away gets no conversations from teams, and colleagues see it when they assign. */
function AwayItem() {
  const workspaceId = useWorkspaceId()
  const { user, workspaces } = useSession()
  const mine = useMemberList(workspaceId).find(({ userId }) => userId === user?.id)
  if (mine === undefined && workspaces.every(({ id }) => id !== workspaceId)) return null
  const isMineAway = mine !== undefined && isAway(mine)
  const change = (until?: Date) =>
    setAway(workspaceId, !isMineAway, until && { until: until.toISOString() }).then(
      () => showToast(isMineAway ? t.common.nowAvailable : t.common.nowAway),
      showError,
    )
  return (
    // Rendered before its state is known, so that items do not move under the pointer.
    <>
      <Menu.Item
        disabled={mine === undefined}
        leftSection={isMineAway ? <IconUserCheck size={16} /> : <IconUserPause size={16} />}
        onClick={() => void change()}
      >
        {isMineAway ? t.common.setAvailable : t.common.setAway}
      </Menu.Item>
      {!isMineAway && (
        <>
          <Menu.Item disabled={mine === undefined} pl={38} onClick={() => void change(inAnHour())}>
            {t.common.awayHour}
          </Menu.Item>
          <Menu.Item disabled={mine === undefined} pl={38} onClick={() => void change(tomorrowMorning())}>
            {t.common.awayTomorrow}
          </Menu.Item>
        </>
      )}
    </>
  )
}

const inAnHour = (): Date => new Date(Date.now() + 3_600_000)

function tomorrowMorning(): Date {
  const day = new Date()
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() + 1, 9)
}

function SetupItem({ item: { path, title, icon: Icon } }: { item: NavItem }) {
  const workspaceId = useWorkspaceId()
  const navigate = useNavigate()
  const badge = useRailBadge(path)
  return (
    <Menu.Item
      leftSection={<Icon size={16} />}
      rightSection={badge !== null && <span className={styles.trouble}>{badge.label}</span>}
      onClick={() => void navigate({ to: `/w/${workspaceId}/${path}` })}
    >
      {title()}
    </Menu.Item>
  )
}

function AppearanceItems() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <>
      <Menu.Label>{t.common.appearance}</Menu.Label>
      {(['light', 'dark', 'auto'] as const).map((one) => (
        <Menu.Item
          key={one}
          rightSection={one === colorScheme && <IconCheck size={16} />}
          onClick={() => setColorScheme(one)}
        >
          {t.common.appearances[one]}
        </Menu.Item>
      ))}
    </>
  )
}
