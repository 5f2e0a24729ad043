#include "tar.h"

#include <stdio.h>
#include <string.h>

#include "text.h"

enum { NAME_SIZE = 100, PREFIX_SIZE = 155, MAX_RECORD_DIGITS = 20 };

// Fields of a header, by offset and size.
enum { AT_NAME = 0, AT_MODE = 100, AT_UID = 108, AT_GID = 116, AT_SIZE = 124, AT_MTIME = 136, AT_SUM = 148, AT_TYPE = 156, AT_LINK = 157, AT_MAGIC = 257, AT_PREFIX = 345 };

static const uint8_t zeros[TAR_BLOCK];

// Octal with a NUL behind; what does not fit as GNU tar does, in base 256.
static void put_number(uint8_t *at, int size, uint64_t value) {
	if (value >> (3 * (size - 1)) == 0) {
		for (int i = size - 2; i >= 0; i--, value >>= 3) at[i] = (uint8_t)('0' + (value & 7));
		return;
	}
	for (int i = size - 1; i > 0; i--, value >>= 8) at[i] = (uint8_t)value;
	at[0] = 0x80;
}

static void put_sum(uint8_t *block) {
	unsigned sum = 0;
	memset(block + AT_SUM, ' ', 8);
	for (int i = 0; i < TAR_BLOCK; i++) sum += block[i];
	block[AT_SUM + 6] = 0;
	put_number(block + AT_SUM, 7, sum);
}

static void begin(uint8_t *block, char type, uint64_t size) {
	memset(block, 0, TAR_BLOCK);
	put_number(block + AT_MODE, 8, 0644);
	put_number(block + AT_UID, 8, 0);
	put_number(block + AT_GID, 8, 0);
	put_number(block + AT_SIZE, 12, size);
	put_number(block + AT_MTIME, 12, 0);
	block[AT_TYPE] = (uint8_t)type;
	memcpy(block + AT_MAGIC, "ustar\0" "00", 8);
}

bool tar_put_padding(struct sink *out, uint64_t size) { return sink_put(out, zeros, (size_t)((TAR_BLOCK - size % TAR_BLOCK) % TAR_BLOCK)); }

bool tar_put_end(struct sink *out) { return sink_put(out, zeros, TAR_BLOCK) && sink_put(out, zeros, TAR_BLOCK); }

// An extra header that carries bytes for the next one.
static bool put_extra(struct sink *out, char type, const char *name, const void *bytes, size_t size) {
	uint8_t block[TAR_BLOCK];
	begin(block, type, size);
	memcpy(block + AT_NAME, name, strlen(name));
	put_sum(block);
	return sink_put(out, block, sizeof block) && sink_put(out, bytes, size) && tar_put_padding(out, size);
}

// "<length> key=value\n", where the length counts its own digits too.
static void add_record(struct text *records, const char *key, const char *value) {
	size_t rest = strlen(key) + strlen(value) + 3, digits = 1;
	while (digits < MAX_RECORD_DIGITS) {
		char length[MAX_RECORD_DIGITS + 4];
		size_t needed = (size_t)snprintf(length, sizeof length, "%zu", rest + digits);
		if (needed == digits) break;
		digits = needed;
	}
	text_print(records, "%zu %s=%s\n", rest + digits, key, value);
}

static void add_mtime(struct text *records, struct timespec t) {
	char value[48];
	long long seconds = (long long)t.tv_sec;
	long part = t.tv_nsec;
	bool before = seconds < 0 && part > 0; // counted down from the next second
	if (before) seconds++, part = 1000000000L - part;
	snprintf(value, sizeof value, "%s%lld.%09ld", before && seconds == 0 ? "-" : "", seconds, part);
	add_record(records, "mtime", value);
}

// Fits a path into name and prefix, split at a slash. False when it does not.
static bool put_path(uint8_t *block, const char *path) {
	size_t size = strlen(path);
	if (size <= NAME_SIZE) {
		memcpy(block + AT_NAME, path, size);
		return true;
	}
	const char *slash = size - NAME_SIZE > 0 ? strchr(path + size - NAME_SIZE - 1, '/') : NULL;
	size_t prefix = slash ? (size_t)(slash - path) : 0;
	if (!slash || prefix == 0 || prefix > PREFIX_SIZE || !slash[1]) {
		memcpy(block + AT_NAME, path, NAME_SIZE);
		return false;
	}
	memcpy(block + AT_PREFIX, path, prefix);
	memcpy(block + AT_NAME, slash + 1, size - prefix - 1);
	return true;
}

// Long names go twice: as POSIX has them, and as GNU tar does, which is what busybox reads.
static bool put_long(struct sink *out, struct text *records, const struct tar_entry *entry, bool long_path, bool long_target) {
	if (long_path) add_record(records, "path", entry->path);
	if (long_target) add_record(records, "linkpath", entry->target);
	bool put = !records->failed && (records->size == 0 || put_extra(out, 'x', "pax-header", records->bytes, records->size));
	if (put && long_path) put = put_extra(out, 'L', "././@LongLink", entry->path, strlen(entry->path) + 1);
	if (put && long_target) put = put_extra(out, 'K', "././@LongLink", entry->target, strlen(entry->target) + 1);
	return put;
}

bool tar_put_header(struct sink *out, const struct tar_entry *entry) {
	uint8_t block[TAR_BLOCK];
	struct text records = {0};
	char size[24];
	size_t target = strlen(entry->target);
	begin(block, (char)entry->type, entry->size);
	put_number(block + AT_MODE, 8, entry->mode);
	put_number(block + AT_UID, 8, entry->uid);
	put_number(block + AT_GID, 8, entry->gid);
	put_number(block + AT_MTIME, 12, entry->mtime.tv_sec > 0 ? (uint64_t)entry->mtime.tv_sec : 0);
	memcpy(block + AT_LINK, entry->target, target < NAME_SIZE ? target : NAME_SIZE);
	bool long_path = !put_path(block, entry->path);
	if (entry->mtime.tv_nsec || entry->mtime.tv_sec < 0) add_mtime(&records, entry->mtime);
	if (entry->size >> 33) {
		snprintf(size, sizeof size, "%llu", (unsigned long long)entry->size);
		add_record(&records, "size", size);
	}
	put_sum(block);
	bool put = put_long(out, &records, entry, long_path, target > NAME_SIZE) && sink_put(out, block, sizeof block);
	text_free(&records);
	return put;
}
