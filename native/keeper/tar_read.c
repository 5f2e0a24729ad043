#include "tar.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = 100, PREFIX_SIZE = 155, MAX_EXTRAS = 16 };
enum { AT_NAME = 0, AT_MODE = 100, AT_SIZE = 124, AT_MTIME = 136, AT_SUM = 148, AT_TYPE = 156, AT_LINK = 157, AT_MAGIC = 257, AT_PREFIX = 345 };

// What extra headers said about the next member.
struct extras {
	bool path, target, size, mtime;
	uint64_t bytes;
};

bool tar_pad(struct source *in, uint64_t size) {
	uint8_t rest[TAR_BLOCK];
	size_t padding = (size_t)((TAR_BLOCK - size % TAR_BLOCK) % TAR_BLOCK);
	return source_take(in, rest, padding) == padding;
}

// A number of a header: octal, or base 256 when its first bit says so. False when it is neither, or negative.
static bool get_number(const uint8_t *at, size_t size, uint64_t *value) {
	size_t i = 0;
	*value = 0;
	if (at[0] & 0x80) {
		if (at[0] != 0x80) return false;
		for (i = 1; i < size; i++) {
			if (*value >> 56) return false;
			*value = *value << 8 | at[i];
		}
		return *value <= INT64_MAX;
	}
	while (i < size && at[i] == ' ') i++;
	for (; i < size && at[i] >= '0' && at[i] <= '7'; i++) *value = *value << 3 | (uint64_t)(at[i] - '0');
	return i == size || at[i] == 0 || at[i] == ' ';
}

// Times before 1970 may come in base 256 with the sign's bits in front.
static bool get_time(const uint8_t *at, struct timespec *time) {
	uint64_t value = 0;
	*time = (struct timespec){0};
	if (at[0] == 0xff) {
		for (int i = 4; i < 12; i++) value = value << 8 | at[i];
		time->tv_sec = (time_t)value;
		return (int64_t)value < 0;
	}
	if (!get_number(at, 12, &value)) return false;
	time->tv_sec = (time_t)value;
	return true;
}

static bool sum_is_right(const uint8_t *block) {
	uint64_t told = 0;
	unsigned sum = 0;
	int as_signed = 0;
	for (int i = 0; i < TAR_BLOCK; i++) {
		uint8_t byte = i >= AT_SUM && i < AT_SUM + 8 ? ' ' : block[i];
		sum += byte;
		as_signed += (signed char)byte;
	}
	return get_number(block + AT_SUM, 8, &told) && (told == sum || (int64_t)told == as_signed);
}

static bool is_zero(const uint8_t *block) {
	for (int i = 0; i < TAR_BLOCK; i++)
		if (block[i]) return false;
	return true;
}

// "[-]seconds[.fraction]"
static bool parse_time(const char *value, struct timespec *time) {
	bool negative = *value == '-';
	int64_t seconds = 0;
	long part = 0, weight = 100000000;
	value += negative;
	if (*value < '0' || *value > '9') return false;
	for (; *value >= '0' && *value <= '9'; value++) {
		if (seconds > INT64_MAX / 100) return false;
		seconds = seconds * 10 + (*value - '0');
	}
	if (*value == '.')
		for (value++; *value >= '0' && *value <= '9'; value++, weight /= 10) part += weight * (*value - '0');
	if (*value) return false;
	if (negative) seconds = part ? -seconds - 1 : -seconds, part = part ? 1000000000L - part : 0;
	*time = (struct timespec){.tv_sec = (time_t)seconds, .tv_nsec = part};
	return true;
}

static bool parse_size(const char *value, uint64_t *size) {
	*size = 0;
	if (!*value) return false;
	for (; *value >= '0' && *value <= '9'; value++) {
		if (*size > INT64_MAX / 100) return false;
		*size = *size * 10 + (uint64_t)(*value - '0');
	}
	return !*value;
}

static bool take_name(char *into, size_t room, const char *value, size_t size) {
	if (size >= room || memchr(value, 0, size)) return false;
	memcpy(into, value, size);
	into[size] = 0;
	return true;
}

// One record of a pax header; NULL, or what is wrong with it. `value` is ended by a NUL that `size` does not count.
static const char *take_record(struct tar_member *m, struct extras *extras, const char *key, const char *value, size_t size) {
	if (strncmp(key, "GNU.sparse.", 11) == 0) return "sparse files are not read";
	if (size == 0) return NULL; // an empty value takes a record back: nothing was set before
	if (strcmp(key, "path") == 0) return (extras->path = take_name(m->path, sizeof m->path, value, size)) ? NULL : "a path is too long or holds a NUL";
	if (strcmp(key, "linkpath") == 0) return (extras->target = take_name(m->target, sizeof m->target, value, size)) ? NULL : "a link's target is too long or holds a NUL";
	if (strcmp(key, "size") == 0) return (extras->size = parse_size(value, &extras->bytes)) ? NULL : "a size is no number";
	if (strcmp(key, "mtime") == 0) return (extras->mtime = parse_time(value, &m->mtime)) ? NULL : "a time is no number";
	return NULL;
}

// Records are "<length> key=value\n". `bytes` has one byte of room behind.
static const char *take_records(struct tar_member *m, struct extras *extras, char *bytes, size_t size) {
	static const char broken[] = "a pax record is broken";
	while (size > 0) {
		size_t length = 0, at = 0;
		for (; at < size && bytes[at] >= '0' && bytes[at] <= '9' && length < TAR_MAX_PAX; at++) length = length * 10 + (size_t)(bytes[at] - '0');
		if (at == 0 || at >= size || bytes[at] != ' ' || length > size || length < at + 4 || bytes[length - 1] != '\n') return broken;
		char *key = bytes + at + 1, *equals = memchr(key, '=', length - at - 2);
		if (!equals) return broken;
		*equals = 0;
		bytes[length - 1] = 0;
		const char *why = take_record(m, extras, key, equals + 1, (size_t)(bytes + length - 1 - (equals + 1)));
		if (why) return why;
		bytes += length;
		size -= length;
	}
	return NULL;
}

static const char *take_pax(struct source *in, struct tar_member *m, struct extras *extras, uint64_t size) {
	if (size > TAR_MAX_PAX) return "a pax header is too long";
	char *bytes = malloc((size_t)size + 1);
	if (!bytes) return "out of memory";
	const char *why = source_take(in, bytes, (size_t)size) == size && tar_pad(in, size) ? NULL : "it ends within a header";
	if (!why) why = take_records(m, extras, bytes, (size_t)size);
	free(bytes);
	return why;
}

// A GNU long name: the bytes up to a NUL or the end.
static const char *take_long(struct source *in, char *into, size_t room, uint64_t size) {
	if (size == 0 || size > room) return "a name is too long";
	if (source_take(in, into, (size_t)size) != size || !tar_pad(in, size)) return "it ends within a header";
	if (into[size - 1] && size == room) return "a name is too long";
	if (into[size - 1]) into[size] = 0;
	return NULL;
}

static const char *skip(struct source *in, uint64_t size) {
	uint8_t block[TAR_BLOCK];
	for (uint64_t done = 0; done < size; done += TAR_BLOCK)
		if (source_take(in, block, sizeof block) != sizeof block) return "it ends within a header";
	return NULL;
}

static bool is_extra(uint8_t type) { return type == 'x' || type == 'g' || type == 'L' || type == 'K' || type == 'V'; }

// Global headers and volume labels say nothing that is needed here.
static const char *take_extra(struct source *in, struct tar_member *m, struct extras *extras, const uint8_t *block) {
	uint64_t size = 0;
	if (!get_number(block + AT_SIZE, 12, &size)) return "a size is no number";
	switch (block[AT_TYPE]) {
	case 'x': return take_pax(in, m, extras, size);
	case 'L': extras->path = true; return take_long(in, m->path, sizeof m->path, size);
	case 'K': extras->target = true; return take_long(in, m->target, sizeof m->target, size);
	default: return skip(in, size);
	}
}

static size_t field_length(const uint8_t *at, size_t size) {
	const uint8_t *nul = memchr(at, 0, size);
	return nul ? (size_t)(nul - at) : size;
}

static void take_path(struct tar_member *m, const uint8_t *block) {
	size_t prefix = memcmp(block + AT_MAGIC, "ustar\0", 6) == 0 ? field_length(block + AT_PREFIX, PREFIX_SIZE) : 0;
	size_t name = field_length(block + AT_NAME, NAME_SIZE), at = 0;
	memcpy(m->path, block + AT_PREFIX, prefix);
	if (prefix) m->path[prefix] = '/', at = prefix + 1;
	memcpy(m->path + at, block + AT_NAME, name);
	m->path[at + name] = 0;
}

static const char *take_type(struct tar_member *m, uint8_t type) {
	size_t length = strlen(m->path);
	switch (type) {
	case 0: case '0': case '7':
		m->type = length > 0 && m->path[length - 1] == '/' ? TAR_FOLDER : TAR_FILE;
		return NULL;
	case '1': m->type = TAR_HARD_LINK; return NULL;
	case '2': m->type = TAR_SYMLINK; return NULL;
	case '3': case '4': case '6': m->type = TAR_OTHER; return NULL;
	case '5': m->type = TAR_FOLDER; return NULL;
	case 'S': return "sparse files are not read";
	default: return "a member is of a kind that is not read";
	}
}

static const char *take_member(struct tar_member *m, const struct extras *extras, const uint8_t *block) {
	uint64_t mode = 0, size = 0;
	struct timespec mtime;
	if (!get_number(block + AT_MODE, 8, &mode) || !get_number(block + AT_SIZE, 12, &size) || !get_time(block + AT_MTIME, &mtime)) return "a header's number is none";
	if (!extras->path) take_path(m, block);
	if (!extras->target) {
		size_t target = field_length(block + AT_LINK, NAME_SIZE);
		memcpy(m->target, block + AT_LINK, target);
		m->target[target] = 0;
	}
	if (!extras->mtime) m->mtime = mtime;
	const char *why = take_type(m, block[AT_TYPE]);
	m->mode = (mode_t)mode & 07777;
	m->size = extras->size ? extras->bytes : size;
	if (!why && m->type != TAR_FILE && m->type != TAR_FOLDER && m->size) return "a link or device has bytes";
	if (m->type != TAR_FILE) m->size = 0;
	return why;
}

enum tar_result tar_next(struct source *in, struct tar_member *m, const char **why) {
	uint8_t block[TAR_BLOCK];
	struct extras extras = {0};
	for (int count = 0; count < MAX_EXTRAS; count++) {
		*why = source_take(in, block, sizeof block) == sizeof block ? NULL : "it ends before its end";
		if (*why) return TAR_BAD;
		if (is_zero(block)) {
			if (count == 0) return TAR_END;
			*why = "headers without a member";
			return TAR_BAD;
		}
		if (!sum_is_right(block)) *why = "a header's sum is wrong: this is no tar archive, or a broken one";
		else if (!is_extra(block[AT_TYPE])) *why = take_member(m, &extras, block);
		else {
			if (!(*why = take_extra(in, m, &extras, block))) continue;
		}
		return *why ? TAR_BAD : TAR_MEMBER;
	}
	*why = "too many extra headers before a member";
	return TAR_BAD;
}
