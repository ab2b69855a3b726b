/*
 * Records what a program writes to one file, and when it waits for the disk, for the model of a power cut. The program preloads it
 * (LD_PRELOAD). MON_RECORDED_FILE is the file, which must exist; MON_JOURNAL is the file that the records are appended to.
 *
 * A record is a header and, for a write, the bytes. It precedes a write and the begin of a sync, and follows the end of both, so that
 * the journal never claims more to be on disk than is.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { WRITE = 1, WRITE_ENDED, SYNC, SYNC_ENDED, TRUNCATE };

/* `id` joins the two records of an operation. `offset` of a truncation is the new length. */
struct header {
  uint32_t kind, is_synchronous;
  uint64_t id, offset, length;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t last_id;

#define REAL(result, name, ...) ((result(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name))

static int is_recorded(int fd) {
  static dev_t device;
  static ino_t inode;
  struct stat status;
  const int before = errno;
  if (inode == 0) {
    const char *path = getenv("MON_RECORDED_FILE");
    if (path == NULL || stat(path, &status) != 0) {
      errno = before;
      return 0;
    }
    device = status.st_dev;
    inode = status.st_ino;
  }
  const int is = fstat(fd, &status) == 0 && status.st_dev == device && status.st_ino == inode;
  errno = before;
  return is;
}

/* A journal that cannot be written would make the model accept lost writes. */
static uint64_t record(struct header header, const struct iovec *data, int count) {
  static int journal = -1;
  struct iovec parts[count + 1];
  const int before = errno;
  pthread_mutex_lock(&lock);
  if (journal < 0) journal = open(getenv("MON_JOURNAL"), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (header.id == 0) header.id = ((uint64_t)getpid() << 32) + ++last_id;
  size_t bytes = sizeof header;
  parts[0] = (struct iovec){&header, sizeof header};
  for (int part = 0; part < count; part += 1) {
    parts[part + 1] = data[part];
    bytes += data[part].iov_len;
  }
  if (REAL(ssize_t, "writev", int, const struct iovec *, int)(journal, parts, count + 1) != (ssize_t)bytes) abort();
  pthread_mutex_unlock(&lock);
  errno = before;
  return header.id;
}

static struct header write_header(int fd, const struct iovec *data, int count, off64_t offset) {
  struct header header = {.kind = WRITE, .offset = offset < 0 ? (uint64_t)lseek64(fd, 0, SEEK_CUR) : (uint64_t)offset};
  header.is_synchronous = (fcntl(fd, F_GETFL) & O_DSYNC) != 0;
  for (int part = 0; part < count; part += 1) header.length += data[part].iov_len;
  return header;
}

#define RECORDED_WRITE(fd, data, count, offset, call)                              \
  do {                                                                             \
    if (!is_recorded(fd)) return call;                                             \
    struct header header = write_header(fd, data, count, offset);                  \
    header.id = record(header, data, count);                                       \
    const ssize_t written = call;                                                  \
    header.kind = WRITE_ENDED;                                                     \
    header.length = 0;                                                             \
    if (written >= 0) record(header, NULL, 0);                                     \
    return written;                                                                \
  } while (0)

#define POSITIONED_WRITE(name)                                                     \
  ssize_t name(int fd, const void *bytes, size_t length, off64_t offset) {         \
    const struct iovec data = {(void *)bytes, length};                             \
    RECORDED_WRITE(fd, &data, 1, offset,                                           \
                   REAL(ssize_t, #name, int, const void *, size_t, off64_t)(fd, bytes, length, offset)); \
  }

#define POSITIONED_WRITEV(name)                                                    \
  ssize_t name(int fd, const struct iovec *data, int count, off64_t offset) {      \
    RECORDED_WRITE(fd, data, count, offset,                                        \
                   REAL(ssize_t, #name, int, const struct iovec *, int, off64_t)(fd, data, count, offset)); \
  }

POSITIONED_WRITE(pwrite)
POSITIONED_WRITE(pwrite64)
POSITIONED_WRITEV(pwritev)
POSITIONED_WRITEV(pwritev64)

ssize_t write(int fd, const void *bytes, size_t length) {
  const struct iovec data = {(void *)bytes, length};
  RECORDED_WRITE(fd, &data, 1, -1, REAL(ssize_t, "write", int, const void *, size_t)(fd, bytes, length));
}

ssize_t writev(int fd, const struct iovec *data, int count) {
  RECORDED_WRITE(fd, data, count, -1, REAL(ssize_t, "writev", int, const struct iovec *, int)(fd, data, count));
}

#define RECORDED_SYNC(name)                                                        \
  int name(int fd) {                                                               \
    if (!is_recorded(fd)) return REAL(int, #name, int)(fd);                        \
    struct header header = {.kind = SYNC};                                         \
    header.id = record(header, NULL, 0);                                           \
    const int result = REAL(int, #name, int)(fd);                                  \
    header.kind = SYNC_ENDED;                                                      \
    if (result == 0) record(header, NULL, 0);                                      \
    return result;                                                                 \
  }

RECORDED_SYNC(fsync)
RECORDED_SYNC(fdatasync)

#define RECORDED_TRUNCATION(name)                                                  \
  int name(int fd, off64_t length) {                                               \
    if (is_recorded(fd)) record((struct header){.kind = TRUNCATE, .offset = length}, NULL, 0); \
    return REAL(int, #name, int, off64_t)(fd, length);                             \
  }

RECORDED_TRUNCATION(ftruncate)
RECORDED_TRUNCATION(ftruncate64)
