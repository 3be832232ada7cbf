import ctypes, errno, fcntl, os, platform, resource, signal, socket, stat, struct, subprocess, sys

libc = ctypes.CDLL(None, use_errno=True)
E = os.environ
WORK, OUT, HOME, ENV = E["WORK"], E["OUT"], E["HOME"], E["ENV"]
PEER = int(E.get("PEER", "0"))
# A name of its own in the workspace, for attacks are run again.
NEW = WORK + "/new-%d" % os.getpid()
NUMBERS = {
    "x86_64": dict(clone=56, tgkill=234, io_uring_setup=425, keyctl=250, add_key=248, bpf=321, userfaultfd=323, perf=298,
                   clone3=435, fsopen=430, open_tree=428, pidfd_getfd=438, renameat2=316, ioctl=16, unshare=272),
    "aarch64": dict(clone=220, tgkill=131, io_uring_setup=425, keyctl=219, add_key=217, bpf=280, userfaultfd=282, perf=241,
                    clone3=435, fsopen=430, open_tree=428, pidfd_getfd=438, renameat2=276, ioctl=29, unshare=97),
}[platform.machine()]


def check(result):
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def call(name, *arguments):
    return check(libc.syscall(NUMBERS[name], *[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]))


def write(path, text="changed", mode="w"):
    with open(path, mode) as file:
        file.write(text)


def need(fact):
    if not fact:
        raise OSError(errno.EPERM, "it had no effect")


def secret(path):
    with open(path, "rb") as file:
        need(b"the-hidden-words" in file.read(100000))


def hello(family, address):
    with socket.socket(family) as client:
        client.settimeout(20)
        client.connect(address)
        need(client.recv(5) == b"hello")


try:
    exec(compile(sys.argv[1], "attack", "exec"))
except FileExistsError:
    raise
except OSError as error:
    print("refused", errno.errorcode.get(error.errno, error))
    sys.exit(7)
print("done")
