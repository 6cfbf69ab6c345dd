-- Single sign-on by OpenID Connect, and accounts provisioned by SCIM; see auth/sso/ and auth/scim/.
create table sso_providers (
  id uuid primary key,
  -- Encrypted: name, issuer, client and its secret, domains, rules of access.
  settings bytea not null,
  -- Encrypted: what the last test sign-in with this issuer and client returned; null: none.
  test bytea,
  is_enabled boolean not null,
  -- Whether people of its domains can sign in only with it.
  is_forced boolean not null default false,
  -- SHA-256 of the token with which it provisions accounts; null: none.
  scim_token_hash bytea unique,
  scim_token_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);

-- A person at a provider: never an e-mail address, which may be given to someone else.
create table sso_identities (
  provider_id uuid not null references sso_providers (id),
  -- Digest of the issuer and its subject.
  subject bytea not null,
  user_id uuid not null references users (id),
  created_at timestamptz(3) not null,
  last_used_at timestamptz(3) not null,
  primary key (provider_id, subject)
);
-- A second identity of one person would be that of someone who was given their address.
create unique index sso_identities_user on sso_identities (user_id, provider_id);

-- Logout tokens that were used, until they expire: none works twice.
create table sso_logouts (
  provider_id uuid not null,
  jti bytea not null,
  expires_at timestamptz(3) not null,
  primary key (provider_id, jti)
);

-- A user as a provider describes it by SCIM.
create table scim_users (
  id uuid primary key,
  provider_id uuid not null references sso_providers (id),
  user_id uuid not null references users (id),
  -- Encrypted: names and addresses.
  resource bytea not null,
  user_name_index bytea not null,
  external_id_index bytea,
  index_version integer not null,
  is_active boolean not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create unique index scim_users_user on scim_users (provider_id, user_id);
create index scim_users_name on scim_users (provider_id, user_name_index);
create index scim_users_external on scim_users (provider_id, external_id_index);

create table scim_groups (
  id uuid primary key,
  provider_id uuid not null references sso_providers (id),
  display_name text not null,
  external_id text,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create unique index scim_groups_name on scim_groups (provider_id, lower(display_name));

create table scim_members (
  group_id uuid not null references scim_groups (id),
  -- The user of SCIM.
  member_id uuid not null references scim_users (id),
  primary key (group_id, member_id)
);
create index scim_members_member on scim_members (member_id);

-- Nobody can sign in as a user who was switched off. What they did keeps their name.
alter table users
  add column disabled_at timestamptz(3),
  -- The provider that created the account and may change its address; null: an invitation did.
  add column managed_by uuid;

alter table sessions
  add column sso_provider_id uuid,
  -- Digest of the provider's session, which it names to end ours.
  add column sso_sid bytea;
create index sessions_sso on sessions (sso_provider_id, sso_sid)
where sso_provider_id is not null;

alter table sessions drop constraint sessions_signed_in_by_check;
alter table sessions
add constraint sessions_signed_in_by_check
check (signed_in_by in ('password', 'link', 'invitation', 'sso')) not valid;
