// SPDX-License-Identifier: Apache-2.0
// Names that headers of other libraries define as macros. Code that uses one of them does not compile after
// this file, because `@` is not a token of C++. Function-like macros are function-like here too, because
// `(min)(a, b)` is the usual way to avoid them.

// Qt, unless QT_NO_KEYWORDS is set
#define slots @slots
#define signals @signals
#define emit @emit
#define foreach(...) @foreach
#define forever @forever

// Windows: minwindef.h, windef.h, rpcndr.h, combaseapi.h, wingdi.h, winnt.h, winuser.h, winerror.h
#define min(...) @min
#define max(...) @max
#define near @near
#define far @far
#define NEAR @NEAR
#define FAR @FAR
#define small @small
#define hyper @hyper
#define interface @interface
#define pascal @pascal
#define cdecl @cdecl
#define IN @IN
#define OUT @OUT
#define OPTIONAL @OPTIONAL
#define CONST @CONST
#define VOID @VOID
#define TRUE @TRUE
#define FALSE @FALSE
#define THIS @THIS
#define ERROR @ERROR
#define NO_ERROR @NO_ERROR
#define DELETE @DELETE
#define STRICT @STRICT
#define OPAQUE @OPAQUE
#define TRANSPARENT @TRANSPARENT
#define ABSOLUTE @ABSOLUTE
#define RELATIVE @RELATIVE
#define DIFFERENCE @DIFFERENCE
#define ALTERNATE @ALTERNATE
#define WINDING @WINDING
#define IGNORE @IGNORE
#define INFINITE @INFINITE
#define CreateEvent @CreateEvent
#define CreateFile @CreateFile
#define GetMessage @GetMessage
#define GetObject @GetObject
#define LoadImage @LoadImage
#define SendMessage @SendMessage
#define Yield(...) @Yield

// X11: X.h and Xlib.h
#define None @None
#define Bool @Bool
#define Status @Status
#define Success @Success
#define True @True
#define False @False
#define Always @Always
#define Above @Above
#define Below @Below
#define Complex @Complex
#define CurrentTime @CurrentTime
#define CursorShape @CursorShape
#define DestroyAll @DestroyAll
#define Expose @Expose
#define GrayScale @GrayScale
#define KeyPress @KeyPress
#define Unsorted @Unsorted
#define BadAlloc @BadAlloc
#define BadValue @BadValue

// macOS: AssertMacros.h and MacTypes.h
#define check @check
#define check_noerr(...) @check_noerr
#define verify(...) @verify
#define verify_noerr(...) @verify_noerr
#define require(...) @require
#define require_noerr(...) @require_noerr
#define nil @nil

// glibc: sys/sysmacros.h, and C's complex.h; GCC without -std
#define major @major
#define minor @minor
#define makedev(...) @makedev
#define I @I
#define linux @linux
#define unix @unix

// Common in build systems and loggers
#define CHECK(...) @CHECK
#define DEBUG @DEBUG
#define INFO @INFO
#define LOG(...) @LOG
#define WARNING @WARNING
#define FATAL @FATAL
#define PACKAGE @PACKAGE
#define VERSION @VERSION
#define SUCCESS @SUCCESS
#define FAIL(...) @FAIL
#define OK @OK
#define ERR @ERR
#define likely(...) @likely
#define unlikely(...) @unlikely
